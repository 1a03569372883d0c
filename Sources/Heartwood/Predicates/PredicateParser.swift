import Foundation

/// Parses the predicate format language to a tree.
///
/// Grammar, loosest first: OR, AND, NOT, then comparisons. Source:
/// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/Articles/pSyntax.html
struct PredicateParser {
    private var lexer: PredicateLexer
    private let arguments: [Any?]
    private var nextArgument = 0
    private var depth = 0

    /// So that a hostile format cannot exhaust the stack.
    static let depthMax = 200

    static func parse(_ format: String, arguments: [Any?]) throws -> PredicateNode {
        var parser = PredicateParser(lexer: try PredicateLexer(format), arguments: arguments)
        let node = try parser.disjunction()
        guard parser.lexer.token == .end else { throw parser.lexer.failure("the predicate ends before this") }
        guard parser.nextArgument == arguments.count else {
            throw parser.lexer.failure("\(arguments.count) arguments were given and \(parser.nextArgument) are used")
        }
        return node
    }

    private init(lexer: PredicateLexer, arguments: [Any?]) {
        self.lexer = lexer
        self.arguments = arguments
    }

    // MARK: Tokens

    private func isKeyword(_ word: String) -> Bool {
        if case .word(let found) = lexer.token { return found.uppercased() == word }
        return false
    }

    private mutating func take(keyword: String) throws -> Bool {
        guard isKeyword(keyword) else { return false }
        try lexer.advance()
        return true
    }

    private mutating func take(symbol: String) throws -> Bool {
        guard lexer.token == .symbol(symbol) else { return false }
        try lexer.advance()
        return true
    }

    private mutating func expect(symbol: String) throws {
        guard try take(symbol: symbol) else { throw lexer.failure("\"\(symbol)\" is missing") }
    }

    private mutating func nested<Result>(_ body: (inout PredicateParser) throws -> Result) throws -> Result {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else { throw lexer.failure("the predicate is nested deeper than \(Self.depthMax)") }
        return try body(&self)
    }

    private mutating func argument() throws -> Any? {
        guard nextArgument < arguments.count else { throw lexer.failure("there is no argument for this") }
        defer { nextArgument += 1 }
        return arguments[nextArgument]
    }

    // MARK: Compounds

    private mutating func disjunction() throws -> PredicateNode {
        var parts = [try conjunction()]
        while true {
            var isOr = try take(keyword: "OR")
            if !isOr { isOr = try take(symbol: "||") }
            guard isOr else { break }
            parts.append(try conjunction())
        }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws -> PredicateNode {
        var parts = [try negation()]
        while true {
            var isAnd = try take(keyword: "AND")
            if !isAnd { isAnd = try take(symbol: "&&") }
            guard isAnd else { break }
            parts.append(try negation())
        }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws -> PredicateNode {
        var isNot = try take(keyword: "NOT")
        if !isNot { isNot = try take(symbol: "!") }
        guard isNot else { return try primary() }
        return try nested { .not(try $0.negation()) }
    }

    private mutating func primary() throws -> PredicateNode {
        if try take(keyword: "TRUEPREDICATE") { return .constant(true) }
        if try take(keyword: "FALSEPREDICATE") { return .constant(false) }
        if lexer.token == .symbol("(") {
            return try nested { parser in
                try parser.lexer.advance()
                let inner = try parser.disjunction()
                try parser.expect(symbol: ")")
                return inner
            }
        }
        if try take(keyword: "NONE") { return .not(try comparison(.any)) }
        if try take(keyword: "ANY") { return try comparison(.any) }
        if try take(keyword: "SOME") { return try comparison(.any) }
        if try take(keyword: "ALL") { return try comparison(.all) }
        return try comparison(.direct)
    }

    // MARK: Comparisons

    private mutating func comparison(_ modifier: PredicateNode.Modifier) throws -> PredicateNode {
        let left = try expression()
        let place = lexer.position
        let (found, isNegated) = try comparisonOperator()
        let options = try self.options(found)
        let right = try expression()
        if found == .between {
            guard isPair(right) else { throw lexer.failure("BETWEEN needs a list of two values", at: place) }
        }
        try check(pattern: right, found, at: place)
        let node = PredicateNode.comparison(.init(left: left, comparison: found, right: right, modifier: modifier, options: options))
        return isNegated ? .not(node) : node
    }

    private func isPair(_ expression: ExpressionNode) -> Bool {
        switch expression {
        case .aggregate(let list): list.count == 2
        case .constant(.collection(let list)): list.count == 2
        case .variable, .keyPath: true
        default: false
        }
    }

    /// A regular expression that does not compile is told of now, not when the first object is tested.
    private func check(pattern: ExpressionNode, _ found: PredicateNode.Operator, at place: Int) throws {
        guard found == .matches, case .constant(.text(let text)) = pattern else { return }
        do {
            _ = try NSRegularExpression(pattern: text)
        } catch {
            throw lexer.failure("the regular expression \"\(text)\" does not compile", at: place)
        }
    }

    private mutating func comparisonOperator() throws -> (PredicateNode.Operator, isNegated: Bool) {
        let symbols: [String: PredicateNode.Operator] = [
            "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
            ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
        ]
        let words: [String: PredicateNode.Operator] = [
            "BETWEEN": .between, "IN": .isIn, "CONTAINS": .contains, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith,
            "LIKE": .like, "MATCHES": .matches,
        ]
        var isNegated = false
        if isKeyword("NOT") {
            try lexer.advance()
            isNegated = true
        }
        switch lexer.token {
        case .symbol(let symbol) where symbols[symbol] != nil && !isNegated:
            try lexer.advance()
            return (symbols[symbol] ?? .equal, false)
        case .word(let word) where words[word.uppercased()] != nil:
            try lexer.advance()
            return (words[word.uppercased()] ?? .equal, isNegated)
        default:
            throw lexer.failure("a comparison operator is missing")
        }
    }

    private mutating func options(_ found: PredicateNode.Operator) throws -> PredicateNode.Options {
        guard lexer.token == .symbol("[") else { return [] }
        try lexer.advance()
        guard case .word(let letters) = lexer.token else { throw lexer.failure("options are letters: c, d, n or l") }
        var options: PredicateNode.Options = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n", "l": break
            default: throw lexer.failure("there is no option \"\(letter)\"; use c, d, n or l")
            }
        }
        try lexer.advance()
        try expect(symbol: "]")
        return options
    }

    // MARK: Expressions

    private mutating func expression() throws -> ExpressionNode {
        switch lexer.token {
        case .text(let text):
            try lexer.advance()
            return .constant(.text(text))
        case .number(let text):
            let value = try number(text, isNegative: false)
            try lexer.advance()
            return .constant(value)
        case .symbol("-"):
            try lexer.advance()
            guard case .number(let text) = lexer.token else { throw lexer.failure("a number is missing after the minus sign") }
            let value = try number(text, isNegative: true)
            try lexer.advance()
            return .constant(value)
        case .symbol("{"): return try nested { try $0.aggregate() }
        case .symbol("("):
            return try nested { parser in
                try parser.lexer.advance()
                let inner = try parser.expression()
                try parser.expect(symbol: ")")
                return inner
            }
        case .variable(let name):
            try lexer.advance()
            return .variable(name)
        case .argument("K"): return try keyPath()
        case .argument(let letters):
            let value = PredicateValue(try argument())
            try check(value, letters)
            try lexer.advance()
            return .constant(value)
        case .word(let word): return try wordExpression(word)
        case .quotedWord: return try keyPath()
        case .symbol, .end: throw lexer.failure("a value or a key is missing")
        }
    }

    private func check(_ value: PredicateValue, _ letters: String) throws {
        guard letters != "@" else { return }
        switch value {
        case .integer, .double, .bool, .decimal: if letters != "s" { return }
        case .text: if letters == "s" { return }
        default: break
        }
        throw lexer.failure("the argument for %\(letters) is of another type")
    }

    private mutating func wordExpression(_ word: String) throws -> ExpressionNode {
        switch word.uppercased() {
        case "NIL", "NULL":
            try lexer.advance()
            return .constant(.null)
        case "TRUE", "YES":
            try lexer.advance()
            return .constant(.bool(true))
        case "FALSE", "NO":
            try lexer.advance()
            return .constant(.bool(false))
        case "SUBQUERY", "FUNCTION", "CAST", "TERNARY":
            throw lexer.failure("\(word) is not supported yet")
        default: return try keyPath()
        }
    }

    private mutating func aggregate() throws -> ExpressionNode {
        try expect(symbol: "{")
        var list: [ExpressionNode] = []
        if try take(symbol: "}") { return .aggregate(list) }
        repeat { list.append(try expression()) } while try take(symbol: ",")
        try expect(symbol: "}")
        return .aggregate(list)
    }

    private mutating func keyPath() throws -> ExpressionNode {
        var keys: [String] = []
        repeat {
            switch lexer.token {
            case .word(let word):
                if !(keys.isEmpty && word.uppercased() == "SELF") { keys.append(word) }
                try lexer.advance()
            case .quotedWord(let word):
                keys.append(word)
                try lexer.advance()
            case .argument("K"):
                guard let path = try argument() as? String, !path.isEmpty else { throw lexer.failure("the argument for %K is no key path") }
                keys += path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
                try lexer.advance()
            default: throw lexer.failure("a key is missing")
            }
        } while try take(symbol: ".")
        guard keys.allSatisfy({ !$0.isEmpty }) else { throw lexer.failure("a key is empty") }
        if lexer.token == .symbol("(") { throw lexer.failure("functions are not supported yet") }
        if case .symbol("[") = lexer.token { throw lexer.failure("indexes into collections are not supported yet") }
        return .keyPath(keys)
    }

    private func number(_ text: String, isNegative: Bool) throws -> PredicateValue {
        let signed = isNegative ? "-" + text : text
        if text.hasPrefix("0x"), let value = Int64(text.dropFirst(2), radix: 16) { return .integer(isNegative ? -value : value) }
        if let value = Int64(signed) { return .integer(value) }
        guard let value = Double(signed) else { throw lexer.failure("\"\(text)\" is no number") }
        return .double(value)
    }
}
