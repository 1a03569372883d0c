import Foundation

/// Writes a tree in the format language. Parsing the text gives an equal tree.
struct PredicatePrinter {
    private(set) var text = ""
    /// The positions of the key paths in the text, in scalars, in the order of the tree.
    private(set) var pathOffsets: [Int] = []

    static func format(_ node: PredicateNode) -> String {
        var printer = PredicatePrinter()
        printer.print(node)
        return printer.text
    }

    static func format(_ node: ExpressionNode) -> String {
        var printer = PredicatePrinter()
        printer.print(node)
        return printer.text
    }

    // MARK: Predicates

    mutating func print(_ node: PredicateNode) {
        switch node {
        case .constant(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts): join(parts, " AND ", empty: "TRUEPREDICATE")
        case .or(let parts): join(parts, " OR ", empty: "FALSEPREDICATE")
        case .not(let part):
            text += "NOT "
            printOperand(part)
        case .comparison(let comparison): print(comparison)
        case .words(let condition): print(condition)
        case .block(let block): text += block.format
        case .fault(let fault): text += "FALSEPREDICATE /* \(fault.reason) */"
        }
    }

    /// Only for messages: the language has no such operator.
    private mutating func print(_ condition: WordCondition) {
        let words = condition.query.words.map { String(decoding: $0.bytes, as: UTF8.self) + ($0.isPrefix ? "*" : "") }
        text += "words \"\(words.joined(separator: " "))\" IN "
        print(condition.attributes, "{", "}")
    }

    private mutating func join(_ parts: [PredicateNode], _ word: String, empty: String) {
        guard !parts.isEmpty else { return text += empty }
        for (index, part) in parts.enumerated() {
            if index > 0 { text += word }
            printOperand(part)
        }
    }

    private mutating func printOperand(_ node: PredicateNode) {
        switch node {
        case .and, .or:
            text += "("
            print(node)
            text += ")"
        default: print(node)
        }
    }

    private mutating func print(_ comparison: PredicateNode.Comparison) {
        if comparison.modifier != .direct { text += comparison.modifier.rawValue + " " }
        print(comparison.left)
        text += " " + comparison.comparison.rawValue
        if !comparison.options.isEmpty {
            let letters: [(PredicateNode.Options, String)] = [
                (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
            ]
            text += "[" + letters.filter { comparison.options.contains($0.0) }.map(\.1).joined() + "]"
        }
        text += " "
        print(comparison.right)
    }

    // MARK: Expressions

    mutating func print(_ node: ExpressionNode) {
        switch node {
        case .constant(let value): print(value)
        case .keyPath(let keys):
            pathOffsets.append(text.unicodeScalars.count)
            text += keys.isEmpty ? "SELF" : Self.path(keys)
        case .path(let base, let keys):
            printOperand(base)
            pathOffsets.append(text.unicodeScalars.count)
            text += "." + (keys.isEmpty ? "SELF" : Self.path(keys, isFirst: false))
        case .aggregate(let list): print(list, "{", "}")
        case .variable(let name): text += "$" + name
        case .call(let function, let arguments): print(function, arguments)
        case .set(let operation, let left, let right): print(left, operation.rawValue, right)
        case .subquery(let collection, let name, let predicate):
            text += "SUBQUERY("
            print(collection)
            text += ", $\(name), "
            print(predicate)
            text += ")"
        case .conditional(let predicate, let first, let second):
            text += "TERNARY("
            print(predicate)
            text += ", "
            print(first)
            text += ", "
            print(second)
            text += ")"
        case .block(let block, let arguments):
            switch block.invocation {
            case .method(let name)?: print(arguments, calling: name)
            case .fetch?: print(arguments, "FETCH(", ")")
            case nil:
                text += "BLOCK"
                print(arguments, "(", ")")
            }
        case .fault(let fault): text += "NIL /* \(fault.reason) */"
        }
    }

    /// - Parameter arguments: starts with the receiver.
    private mutating func print(_ arguments: [ExpressionNode], calling name: String) {
        text += "FUNCTION("
        if let receiver = arguments.first { print(receiver) }
        text += ", \"\(name)\""
        for argument in arguments.dropFirst() {
            text += ", "
            print(argument)
        }
        text += ")"
    }

    private mutating func print(_ function: PredicateFunction, _ arguments: [ExpressionNode]) {
        if let infix = function.infix, arguments.count == 2 { return print(arguments[0], infix.symbol, arguments[1]) }
        switch function {
        case .cast: print(arguments, "CAST(", ")")
        case .element, .first, .last, .size:
            guard let base = arguments.first else { return }
            printOperand(base)
            text += "["
            if arguments.count > 1 { print(arguments[1]) } else { text += function.rawValue.dropLast() }
            text += "]"
        case _ where function.isMethod:
            print(arguments, calling: function.rawValue)
        default: print(arguments, function.rawValue + "(", ")")
        }
    }

    private mutating func print(_ left: ExpressionNode, _ symbol: String, _ right: ExpressionNode) {
        printOperand(left)
        text += " \(symbol) "
        printOperand(right)
    }

    private mutating func print(_ list: [ExpressionNode], _ open: String, _ close: String) {
        text += open
        for (index, part) in list.enumerated() {
            if index > 0 { text += ", " }
            print(part)
        }
        text += close
    }

    private mutating func printOperand(_ node: ExpressionNode) {
        let needsParentheses = switch node {
        case .set: true
        case .call(let function, _): function.infix != nil
        // Without parentheses a path behind a number, or a sign before one, would be read as part of it.
        case .constant(.integer(let value)): value < 0
        case .constant(.double), .constant(.decimal): true
        default: false
        }
        if needsParentheses { text += "(" }
        print(node)
        if needsParentheses { text += ")" }
    }

    static func path(_ keys: [String], isFirst: Bool = true) -> String {
        keys.enumerated().map { index, key in
            isFirst && index == 0 && PredicateParser.isReserved(key) ? "#" + key : key
        }.joined(separator: ".")
    }

    // MARK: Values

    private mutating func print(_ value: PredicateValue) {
        switch value {
        case .null: text += "nil"
        case .bool(let flag): text += flag ? "1" : "0"
        case .integer(let number): text += "\(number)"
        case .double(let number): if number.isFinite { text += "\(number)" } else { cast("\(number)", .number) }
        case .decimal(let number): cast("\(number)", .decimal)
        case .text(let string): text += Self.quoted(string)
        case .date(let seconds): print(.call(.cast, [.constant(.double(seconds)), .constant(.text(PredicateCast.date.rawValue))]))
        case .uuid(let uuid): cast(uuid.uuidString, .uuid)
        case .data(let data): cast(data.base64EncodedString(), .data)
        case .url(let url): cast(url.absoluteString, .url)
        case .object(let object): text += object.objectID.uriRepresentation().absoluteString
        case .objectID(let id): text += id.uriRepresentation().absoluteString
        case .collection(let members): print(members.map(ExpressionNode.constant), "{", "}")
        case .other(let object): text += "\(object)"
        }
    }

    private mutating func cast(_ value: String, _ type: PredicateCast) { text += "CAST(\(Self.quoted(value)), \"\(type.rawValue)\")" }

    static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
