import Foundation

/// Parses calls: functions, and the words with special rules.
extension PredicateParser {
    /// Parses a call from its opening parenthesis on.
    mutating func call(_ name: String, at position: Int) throws -> Item {
        try expect(symbol: "(")
        let result: Item
        switch name.uppercased() {
        case "SUBQUERY": result = try subquery(at: position)
        case "TERNARY": result = try conditional(at: position)
        case "CAST": result = try cast(at: position)
        case "FUNCTION": result = try method(at: position)
        case "FETCH": result = try fetch(at: position)
        default: result = try function(name, at: position)
        }
        try expect(symbol: ")")
        return result
    }

    private func make(_ node: ExpressionNode, _ parts: [Int], at position: Int) throws -> Item {
        try item(.expression(node), over: parts.max() ?? 0, at: position)
    }

    private mutating func function(_ name: String, at position: Int) throws -> Item {
        guard let function = PredicateFunction.named(name) else {
            throw lexer.failure("there is no function \"\(name)\"; there are \(PredicateFunction.names)", at: position)
        }
        let arguments = lexer.token == .symbol(")") ? [] : try list()
        guard function.accepts(count: arguments.count) else {
            throw lexer.failure("\(function.rawValue) takes \(function.arityText), not \(arguments.count)", at: position)
        }
        return try make(.call(function, arguments.map(\.node)), arguments.map(\.depth), at: position)
    }

    private mutating func subquery(at position: Int) throws -> Item {
        let collection = try expression()
        try expect(symbol: ",")
        guard case .variable(let name) = lexer.token else { throw lexer.failure("SUBQUERY needs a variable here, such as $x") }
        try lexer.advance()
        try expect(symbol: ",")
        let condition = try predicate()
        return try make(.subquery(collection.node, variable: name, condition.node), [collection.depth, condition.depth], at: position)
    }

    private mutating func conditional(at position: Int) throws -> Item {
        let condition = try predicate()
        try expect(symbol: ",")
        let first = try expression()
        try expect(symbol: ",")
        let second = try expression()
        return try make(
            .conditional(condition.node, first.node, second.node), [condition.depth, first.depth, second.depth], at: position)
    }

    private mutating func cast(at position: Int) throws -> Item {
        let value = try expression()
        try expect(symbol: ",")
        let start = lexer.position
        let type = try expression()
        if isForm, case .constant(.other) = type.node { return try make(value.node, [value.depth], at: position) }
        guard case .constant(.text(let name)) = type.node, let target = PredicateCast(rawValue: name) else {
            let names = PredicateCast.allCases.map(\.rawValue).joined(separator: " ")
            throw lexer.failure("CAST needs the name of a type: \(names)", at: start)
        }
        if case .constant(let constant) = value.node, !isForm {
            let result = target.apply(constant)
            guard constant.isNull || !result.isNull else { throw lexer.failure("this value cannot be cast to \(name)", at: position) }
            return try make(.constant(result), [], at: position)
        }
        return try make(.call(.cast, [value.node, type.node]), [value.depth], at: position)
    }

    private mutating func method(at position: Int) throws -> Item {
        let receiver = try expression()
        try expect(symbol: ",")
        let start = lexer.position
        let selector = try expression()
        let rest = try take(symbol: ",") ? try list() : []
        if isForm, case .constant(.other) = selector.node { return try make(receiver.node, [receiver.depth], at: position) }
        guard case .constant(.text(let name)) = selector.node else {
            throw lexer.failure("FUNCTION needs the name of a method: \(PredicateFunction.methodNames)", at: start)
        }
        guard let node = ExpressionNode.call(ofMethod: name, [receiver.node] + rest.map(\.node)) else {
            let arity = PredicateFunction.method(name)?.arity ?? 1
            throw lexer.failure("\(name) takes \(arity - 1) arguments beside its receiver, not \(rest.count)", at: start)
        }
        return try make(node, [receiver.depth] + rest.map(\.depth), at: position)
    }

    /// Parses a request, its context, and the flag for counting only.
    private mutating func fetch(at position: Int) throws -> Item {
        let parts = try list()
        guard parts.count == 3 else {
            throw lexer.failure("FETCH takes a request, a context and whether results are counted, not \(parts.count) arguments", at: position)
        }
        return try make(.block(ExpressionBlock(.fetch), parts.map(\.node)), parts.map(\.depth), at: position)
    }
}
