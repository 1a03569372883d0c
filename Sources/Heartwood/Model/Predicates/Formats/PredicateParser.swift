import Foundation

/// A parser that turns the predicate format language into a tree.
///
/// Grammar, loosest first: OR, AND, NOT, comparisons; within an expression UNION INTERSECT MINUS, | ^ & << >> + - * / **, signs, and
/// `.key` and `[index]`. Parentheses may contain a predicate or an expression. One recursive descent parses both, without backtracking.
/// Source: https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/Articles/pSyntax.html
struct PredicateParser {
    /// A parsed part of the format.
    struct Item {
        enum Kind {
            case predicate(PredicateNode)
            case expression(ExpressionNode)
        }

        let kind: Kind
        /// The number of the part's levels, its own included.
        let depth: Int
        let position: Int
    }

    var lexer: PredicateLexer
    private let arguments: [Any?]
    private var nextArgument = 0
    /// Whether a comparison that its constants make invalid is kept: a fetch with it throws.
    private var keepsFaults = false
    /// Whether placeholders are the arguments, which any conversion takes.
    private(set) var isForm = false
    private var nesting = 0

    /// The deepest nesting, so that a hostile format cannot exhaust the stack.
    static let nestingMax = 200

    static func parse(_ format: String, arguments: [Any?]) throws -> PredicateNode { try tree(format, arguments: arguments).node }

    static func tree(_ format: String, arguments: [Any?], formats: FormatCache = .shared) throws -> PredicateTree {
        if let known = formats.tree(format, arguments) { return known }
        let node = try parseAnew(format, arguments)
        formats.note(format, arguments.count) { try parseAnew(format, $0) }
        return PredicateTree(node, depth: node.depth)
    }

    /// Like `tree`, except that the arguments are the caller's data: where only they are at fault, the tree is one that cannot be evaluated.
    /// - Throws: the error of a format that no arguments would fit.
    static func lenientTree(_ format: String, arguments: [Any?]) throws -> PredicateTree {
        do {
            return try tree(format, arguments: arguments)
        } catch {
            if let node = try? parseAnew(format, arguments, keepsFaults: true) { return PredicateTree(node, depth: node.depth) }
            let placeholders = arguments.indices.map(FormatTemplate.Placeholder.init)
            guard !arguments.isEmpty, (try? parseAnew(format, placeholders, keepsFaults: true, isForm: true)) != nil else { throw error }
            return PredicateTree(.fault(PredicateFault(reason: "\(error)")), depth: 1)
        }
    }

    private static func parseAnew(
        _ format: String, _ arguments: [Any?], keepsFaults: Bool = false, isForm: Bool = false
    ) throws -> PredicateNode {
        var parser = PredicateParser(lexer: try PredicateLexer(format), arguments: arguments)
        (parser.keepsFaults, parser.isForm) = (keepsFaults, isForm)
        let node = try parser.predicate(try parser.disjunction()).node
        try parser.finish("predicate")
        return node
    }

    /// Like `parseExpression`, as `lenientTree` is like `tree`.
    static func lenientExpression(_ format: String, arguments: [Any?]) throws -> (node: ExpressionNode, depth: Int) {
        do {
            return try parseExpression(format, arguments: arguments)
        } catch {
            if let found = try? parseExpression(format, arguments: arguments, keepsFaults: true) { return found }
            let placeholders = arguments.indices.map(FormatTemplate.Placeholder.init)
            guard !arguments.isEmpty, (try? parseExpression(format, arguments: placeholders, keepsFaults: true, isForm: true)) != nil else {
                throw error
            }
            return (.fault(PredicateFault(reason: "\(error)")), 1)
        }
    }

    static func parseExpression(
        _ format: String, arguments: [Any?], keepsFaults: Bool = false, isForm: Bool = false
    ) throws -> (node: ExpressionNode, depth: Int) {
        var parser = PredicateParser(lexer: try PredicateLexer(format), arguments: arguments)
        (parser.keepsFaults, parser.isForm) = (keepsFaults, isForm)
        let result = try parser.expression()
        try parser.finish("expression")
        return result
    }

    private init(lexer: PredicateLexer, arguments: [Any?]) {
        self.lexer = lexer
        self.arguments = arguments
    }

    private func finish(_ what: String) throws {
        guard lexer.token == .end else { throw lexer.failure("the \(what) ends before this text") }
    }

    // MARK: Tokens

    func isKeyword(_ word: String) -> Bool { lexer.keyword == word }

    mutating func take(keyword: String) throws -> Bool {
        guard isKeyword(keyword) else { return false }
        try lexer.advance()
        return true
    }

    mutating func take(symbol: String) throws -> Bool {
        guard lexer.token == .symbol(symbol) else { return false }
        try lexer.advance()
        return true
    }

    mutating func expect(symbol: String) throws {
        guard try take(symbol: symbol) else { throw lexer.failure("\"\(symbol)\" is missing") }
    }

    mutating func nested<Result>(_ body: (inout PredicateParser) throws -> Result) throws -> Result {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= Self.nestingMax else { throw lexer.failure("the format is nested deeper than \(Self.nestingMax) levels") }
        return try body(&self)
    }

    mutating func argument() throws -> Any? {
        guard nextArgument < arguments.count else { throw lexer.failure("there is no argument for this") }
        defer { nextArgument += 1 }
        return arguments[nextArgument]
    }

    // MARK: Items

    func item(_ kind: Item.Kind, over depth: Int, at position: Int) throws -> Item {
        guard depth < PredicateNode.depthMax else {
            throw lexer.failure("the predicate is nested deeper than \(PredicateNode.depthMax) levels", at: position)
        }
        return Item(kind: kind, depth: depth + 1, position: position)
    }

    /// Mutating, so that `self` is read only after the argument was parsed. A failure then has the position that parsing reached.
    private mutating func predicate(_ item: Item) throws -> (node: PredicateNode, depth: Int) {
        guard case .predicate(let node) = item.kind else { throw lexer.failure("a comparison operator is missing") }
        return (node, item.depth)
    }

    func expression(_ item: Item) throws -> (node: ExpressionNode, depth: Int) {
        guard case .expression(let node) = item.kind else {
            throw lexer.failure("a value is needed here, not a predicate", at: item.position)
        }
        return (node, item.depth)
    }

    mutating func expression() throws -> (node: ExpressionNode, depth: Int) { try expression(try binary()) }
    mutating func predicate() throws -> (node: PredicateNode, depth: Int) { try predicate(try disjunction()) }

    // MARK: Compounds

    mutating func disjunction() throws -> Item {
        let position = lexer.position
        let first = try conjunction()
        guard isKeyword("OR") || lexer.token == .symbol("||") else { return first }
        var parts = [try predicate(first)]
        while try take(keyword: "OR") || take(symbol: "||") { parts.append(try predicate(try conjunction())) }
        return try item(.predicate(.or(parts.map(\.node))), over: parts.reduce(0) { max($0, $1.depth) }, at: position)
    }

    private mutating func conjunction() throws -> Item {
        let position = lexer.position
        let first = try negation()
        guard isKeyword("AND") || lexer.token == .symbol("&&") else { return first }
        var parts = [try predicate(first)]
        while try take(keyword: "AND") || take(symbol: "&&") { parts.append(try predicate(try negation())) }
        return try item(.predicate(.and(parts.map(\.node))), over: parts.reduce(0) { max($0, $1.depth) }, at: position)
    }

    private mutating func negation() throws -> Item {
        let position = lexer.position
        guard try take(keyword: "NOT") || take(symbol: "!") else { return try comparison() }
        let (node, depth) = try nested { try $0.predicate(try $0.negation()) }
        return try item(.predicate(.not(node)), over: depth, at: position)
    }

    // MARK: Comparisons

    private mutating func comparison() throws -> Item {
        let position = lexer.position
        if try take(keyword: "TRUEPREDICATE") { return try item(.predicate(.constant(true)), over: 0, at: position) }
        if try take(keyword: "FALSEPREDICATE") { return try item(.predicate(.constant(false)), over: 0, at: position) }
        if try take(keyword: "NONE") {
            let (node, depth) = try predicate(try comparison(.any, at: position))
            return try item(.predicate(.not(node)), over: depth, at: position)
        }
        if try take(keyword: "ANY") || take(keyword: "SOME") { return try comparison(.any, at: position) }
        if try take(keyword: "ALL") { return try comparison(.all, at: position) }
        let left = try binary()
        guard case .expression = left.kind, isComparisonOperator else { return left }
        return try comparison(.direct, left, at: position)
    }

    private mutating func comparison(_ modifier: PredicateNode.Modifier, at position: Int) throws -> Item {
        try comparison(modifier, try binary(), at: position)
    }

    private mutating func comparison(_ modifier: PredicateNode.Modifier, _ leftItem: Item, at position: Int) throws -> Item {
        let left = try expression(leftItem)
        let start = lexer.position
        let (found, isNegated) = try comparisonOperator()
        let options = try self.options()
        let right = try expression()
        let comparison = PredicateNode.Comparison(
            left: left.node, comparison: found, right: right.node, modifier: modifier, options: options)
        if !keepsFaults, let fault = comparison.fault { throw lexer.failure(fault.reason, at: start) }
        let node = PredicateNode.comparison(comparison)
        return try item(.predicate(isNegated ? .not(node) : node), over: max(left.depth, right.depth) + 1, at: position)
    }

    private static let symbols: [String: PredicateNode.Operator] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
        ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]

    private static let words: [String: PredicateNode.Operator] = [
        "BETWEEN": .between, "IN": .isIn, "CONTAINS": .contains, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith,
        "LIKE": .like, "MATCHES": .matches,
    ]

    private var isComparisonOperator: Bool {
        switch lexer.token {
        case .symbol(let symbol): Self.symbols[symbol] != nil
        case .word: Self.words[lexer.keyword] != nil || lexer.keyword == "NOT"
        default: false
        }
    }

    private mutating func comparisonOperator() throws -> (PredicateNode.Operator, isNegated: Bool) {
        let isNegated = try take(keyword: "NOT")
        switch lexer.token {
        case .symbol(let symbol) where !isNegated:
            guard let found = Self.symbols[symbol] else { break }
            try lexer.advance()
            return (found, false)
        case .word:
            guard let found = Self.words[lexer.keyword] else { break }
            try lexer.advance()
            return (found, isNegated)
        default: break
        }
        throw lexer.failure("a comparison operator is missing")
    }

    private mutating func options() throws -> PredicateNode.Options {
        guard lexer.token == .symbol("[") else { return [] }
        try lexer.advance()
        guard case .word(let letters) = lexer.token else { throw lexer.failure("options are letters: c, d, n or l") }
        var options: PredicateNode.Options = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default: throw lexer.failure("there is no option \"\(letter)\"; use c, d, n or l")
            }
        }
        try lexer.advance()
        try expect(symbol: "]")
        return options
    }
}

extension PredicateNode.Comparison {
    /// The fault in the constant sides. Parsing reports it, instead of the test of the first object.
    var fault: PredicateFault? {
        switch comparison {
        case .between:
            switch right {
            case .aggregate(let list) where list.count == 2: return nil
            case .constant(.collection(let list)) where list.count == 2: return nil
            // The arguments of a kept format are looked at when they take its place.
            case .constant(.other(let object)) where object is FormatTemplate.Placeholder: return nil
            case .aggregate, .constant: return PredicateFault(reason: "BETWEEN needs a list of two values")
            default: return nil
            }
        case .isIn:
            switch right {
            case .constant(.bool), .constant(.integer), .constant(.double), .constant(.decimal), .constant(.date), .constant(.uuid),
                .constant(.data), .constant(.url):
                return PredicateFault(reason: "IN needs a list, a collection or a string on its right")
            default: return nil
            }
        case .matches:
            guard case .constant(.text(let pattern)) = right else { return nil }
            do {
                _ = try RegularExpression(pattern, options: options.effective)
                return nil
            } catch {
                return PredicateFault(reason: "\(error)")
            }
        default: return nil
        }
    }
}
