import Foundation

/// Parses the expressions of the format language.
extension PredicateParser {
    /// Parses an expression, or a predicate in parentheses, with operators whose precedence is at least `minimum`.
    mutating func binary(_ minimum: Int = 1) throws -> Item {
        var left = try unary()
        while let (make, precedence) = infix, precedence >= minimum {
            let first = try expression(left)
            try lexer.advance()
            let second = try expression(try binary(precedence + 1))
            left = try item(.expression(make(first.node, second.node)), over: max(first.depth, second.depth), at: left.position)
        }
        return left
    }

    private var infix: (make: (ExpressionNode, ExpressionNode) -> ExpressionNode, precedence: Int)? {
        switch lexer.token {
        case .symbol(let symbol):
            guard let found = PredicateFunction.byInfix[symbol] else { return nil }
            return ({ .call(found.function, [$0, $1]) }, found.precedence)
        case .word:
            guard let operation = ExpressionNode.SetOperation(rawValue: lexer.keyword) else { return nil }
            return ({ .set(operation, $0, $1) }, 1)
        default: return nil
        }
    }

    private mutating func unary() throws -> Item {
        let position = lexer.position
        if try take(symbol: "-") {
            if case .number(let text) = lexer.token {
                let value = try number(text, isNegative: true)
                try lexer.advance()
                return try postfix(try item(.expression(.constant(value)), over: 0, at: position))
            }
            let (node, depth) = try nested { try $0.expression(try $0.unary()) }
            return try item(.expression(.call(.multiply, [.constant(.integer(-1)), node])), over: depth, at: position)
        }
        if try take(symbol: "~") {
            let (node, depth) = try nested { try $0.expression(try $0.unary()) }
            return try item(.expression(.call(.onesComplement, [node])), over: depth, at: position)
        }
        return try postfix(try primary())
    }

    private mutating func postfix(_ first: Item) throws -> Item {
        var result = first
        while true {
            if lexer.token == .symbol(".") {
                let base = try expression(result)
                try lexer.advance()
                let keys = try self.keys()
                if case .keyPath(let earlier) = base.node {
                    guard earlier.count + keys.count <= PredicateKeyPath.keysMax else {
                        throw lexer.failure(PredicateFault.longPath.reason, at: result.position)
                    }
                    result = Item(kind: .expression(.keyPath(earlier + keys)), depth: result.depth, position: result.position)
                } else {
                    result = try item(.expression(.path(base.node, keys)), over: base.depth, at: result.position)
                }
            } else if lexer.token == .symbol("[") {
                let base = try expression(result)
                try lexer.advance()
                let (function, index) = try self.index()
                try expect(symbol: "]")
                let call = ExpressionNode.call(function, [base.node] + (index.map { [$0.node] } ?? []))
                result = try item(.expression(call), over: max(base.depth, index?.depth ?? 0), at: result.position)
            } else {
                return result
            }
        }
    }

    /// Parses the content of brackets: a value, or a word with a special meaning.
    private mutating func index() throws -> (PredicateFunction, (node: ExpressionNode, depth: Int)?) {
        for function in [PredicateFunction.first, .last, .size] where try take(keyword: String(function.rawValue.dropLast())) {
            return (function, nil)
        }
        return (.element, try nested { try $0.expression() })
    }

    private mutating func primary() throws -> Item {
        let position = lexer.position
        func leaf(_ node: ExpressionNode) throws -> Item { try item(.expression(node), over: 0, at: position) }
        switch lexer.token {
        case .text(let text):
            try lexer.advance()
            return try leaf(.constant(.text(text)))
        case .number(let text):
            let value = try number(text, isNegative: false)
            try lexer.advance()
            return try leaf(.constant(value))
        case .symbol("{"): return try nested { try $0.aggregate() }
        case .symbol("("):
            return try nested { parser in
                try parser.lexer.advance()
                let inner = try parser.disjunction()
                try parser.expect(symbol: ")")
                return Item(kind: inner.kind, depth: inner.depth, position: position)
            }
        case .variable(let name):
            try lexer.advance()
            return try leaf(.variable(name))
        case .argument("K"), .quotedWord: return try leaf(.keyPath(try keys()))
        case .argument(let letters): return try argumentItem(letters)
        case .word(let word): return try wordItem(word)
        case .symbol, .end: throw lexer.failure("a value or a key is missing")
        }
    }

    private mutating func argumentItem(_ letters: String) throws -> Item {
        let position = lexer.position
        let given = try argument()
        let result: Item
        switch given {
        case let expression as NSExpression where letters == "@":
            result = try item(.expression(expression.node), over: expression.depth - 1, at: position)
        case let predicate as Foundation.NSPredicate where letters == "@":
            result = try item(.predicate(predicate.node), over: predicate.depth - 1, at: position)
        case let placeholder as FormatTemplate.Placeholder:
            placeholder.conversion = FormatConversion(letters)
            result = try item(.expression(.constant(.other(placeholder))), over: 0, at: position)
        default:
            let value = PredicateValue(given)
            guard FormatConversion(letters).takes(value) else { throw lexer.failure("the argument for %\(letters) is of another type") }
            result = try item(.expression(.constant(value)), over: 0, at: position)
        }
        try lexer.advance()
        return result
    }

    private static let reserved: Set<String> = [
        "AND", "OR", "NOT", "IN", "ANY", "ALL", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN",
        "UNION", "INTERSECT", "MINUS", "TRUEPREDICATE", "FALSEPREDICATE",
    ]

    /// Whether a key of this name must be written with a `#`.
    static func isReserved(_ key: String) -> Bool {
        reserved.contains(key.uppercased()) || ["NIL", "NULL", "TRUE", "YES", "FALSE", "NO", "SELF"].contains(key.uppercased())
    }

    private mutating func wordItem(_ word: String) throws -> Item {
        let position = lexer.position
        let constant: PredicateValue? = switch lexer.keyword {
        case "NIL", "NULL": .null
        case "TRUE", "YES": .bool(true)
        case "FALSE", "NO": .bool(false)
        default: nil
        }
        if let constant {
            try lexer.advance()
            return try item(.expression(.constant(constant)), over: 0, at: position)
        }
        guard !Self.reserved.contains(lexer.keyword) else {
            throw lexer.failure("a value or a key is missing; a key named \(word) is written #\(word)")
        }
        let start = lexer
        try lexer.advance()
        if lexer.token == .symbol("(") { return try nested { try $0.call(word, at: position) } }
        lexer = start
        return try item(.expression(.keyPath(try keys())), over: 0, at: position)
    }

    private mutating func aggregate() throws -> Item {
        let position = lexer.position
        try expect(symbol: "{")
        let list = lexer.token == .symbol("}") ? [] : try self.list()
        try expect(symbol: "}")
        return try item(.expression(.aggregate(list.map(\.node))), over: list.reduce(0) { max($0, $1.depth) }, at: position)
    }

    mutating func list() throws -> [(node: ExpressionNode, depth: Int)] {
        var list = [try expression()]
        while try take(symbol: ",") { list.append(try expression()) }
        return list
    }

    /// Parses keys joined by dots. SELF at the start adds no key.
    private mutating func keys() throws -> [String] {
        var keys: [String] = []
        var isFirst = true
        repeat {
            switch lexer.token {
            case .word(let word):
                guard !word.utf8.contains(UInt8(ascii: ":")) else {
                    throw lexer.failure("\"\(word)\" is no key; a function's arguments follow in parentheses")
                }
                if !(isFirst && word.uppercased() == "SELF") { keys.append(word) }
            case .quotedWord(let word): keys.append(word)
            case .argument("K"):
                let given = try argument()
                guard let path = isForm ? "key" : given as? String, !path.isEmpty else {
                    throw lexer.failure("the argument for %K is no key path")
                }
                let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
                guard !parts.contains("") else { throw lexer.failure("a key in the argument for %K is empty") }
                keys += isFirst && parts[0].uppercased() == "SELF" ? Array(parts.dropFirst()) : parts
            default: throw lexer.failure("a key is missing")
            }
            guard keys.count <= PredicateKeyPath.keysMax else { throw lexer.failure(PredicateFault.longPath.reason) }
            try lexer.advance()
            isFirst = false
        } while try take(symbol: ".")
        guard !keys.contains("") else { throw lexer.failure("a key is empty") }
        return keys
    }

    private func number(_ text: String, isNegative: Bool) throws -> PredicateValue {
        let sign = isNegative ? "-" : ""
        let prefix = text.prefix(2).lowercased()
        if let radix = ["0x": 16, "0o": 8, "0b": 2][prefix] {
            guard let value = Int64(sign + text.dropFirst(2), radix: radix) else {
                throw lexer.failure("\"\(text)\" is no number of 64 bits")
            }
            return .integer(value)
        }
        if let value = Int64(sign + text) { return .integer(value) }
        // Double() also takes words and hexadecimal numbers, which the format language does not allow here.
        let isDecimal = text.utf8.allSatisfy { $0 < 0x40 || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
        guard isDecimal, let value = Double(sign + text) else {
            throw lexer.failure("\"\(text)\" is no number")
        }
        return .double(value)
    }
}
