import Foundation

/// The keys of groups, the aggregates over their objects, and expressions over both.
struct GroupedExpressions {
    struct Aggregate {
        let function: PredicateFunction
        /// An expression over an object; empty keys for the object itself.
        let argument: ExpressionNode
        /// Whether equal values count once in each group.
        var isDistinct = false

        var format: String {
            PredicatePrinter.format(.call(function, [isDistinct ? .call(.distinct, [argument]) : argument]))
        }
    }

    let keys: [ExpressionNode]
    private(set) var aggregates: [Aggregate] = []
    private let keyFormats: [ExactText]
    private var aggregateFormats: [ExactText] = []

    init(keys: [ExpressionNode]) {
        self.keys = keys
        keyFormats = keys.map { ExactText(PredicatePrinter.format($0)) }
    }

    // MARK: Slots

    /// A value of a group: a variable whose name no format string can contain.
    enum Slot {
        case key(Int)
        case aggregate(Int)

        var name: String {
            switch self {
            case .key(let index): "key \(index)"
            case .aggregate(let index): "aggregate \(index)"
            }
        }

        /// nil where an expression is more than a slot.
        init?(_ node: ExpressionNode) {
            guard case .variable(let name) = node else { return nil }
            let parts = name.split(separator: " ")
            guard parts.count == 2, let index = Int(parts[1]) else { return nil }
            self = parts[0] == "key" ? .key(index) : .aggregate(index)
        }
    }

    /// Returns the slot of a group key; nil where `node` is none.
    func slot(of node: ExpressionNode) -> ExpressionNode? {
        keyFormats.firstIndex(of: ExactText(PredicatePrinter.format(node))).map { .variable(Slot.key($0).name) }
    }

    // MARK: Rewriting

    /// Rewrites an expression over objects into one over slots.
    /// - Throws: where the expression needs the value of a single object of the group.
    mutating func overGroup(_ node: ExpressionNode) throws -> ExpressionNode {
        if let slot = slot(of: node) { return slot }
        if let aggregate = node.asAggregate ?? node.overMembers { return try take(aggregate) }
        switch node {
        case .constant, .fault, .variable: return node
        case .path(let base, let keys): return .path(try overGroup(base), keys)
        case .aggregate(let list): return .aggregate(try list.map { try overGroup($0) })
        case .call(let function, let arguments): return .call(function, try arguments.map { try overGroup($0) })
        case .set(let operation, let left, let right): return .set(operation, try overGroup(left), try overGroup(right))
        case .conditional(let predicate, let first, let second):
            return .conditional(try overGroup(predicate), try overGroup(first), try overGroup(second))
        case .keyPath, .subquery, .block:
            throw ResultShape.error(
                "\"\(PredicatePrinter.format(node))\" is not in propertiesToGroupBy and is no aggregate, so a group has no single value of it.")
        }
    }

    mutating func overGroup(_ node: PredicateNode) throws -> PredicateNode {
        switch node {
        case .constant, .words, .block, .fault: return node
        case .and(let parts): return .and(try parts.map { try overGroup($0) })
        case .or(let parts): return .or(try parts.map { try overGroup($0) })
        case .not(let part): return .not(try overGroup(part))
        case .comparison(let comparison):
            var result = comparison
            result.left = try overGroup(comparison.left)
            result.right = try overGroup(comparison.right)
            return .comparison(result)
        }
    }

    /// Rewrites an expression over an object: slots replace its aggregates, which are over all objects.
    /// - Throws: for an aggregate of an aggregate.
    mutating func besideObjects(_ node: ExpressionNode) throws -> ExpressionNode {
        var failure: (any Error)?
        let result = node.rewriting(bound: []) { node, bound in
            guard bound.isEmpty, failure == nil else { return node }
            if case .call(let function, let arguments) = node, function.isAggregate, arguments.contains(where: \.hasSlot) {
                failure = ResultShape.error("\"\(function.rawValue)\" is an aggregate of an aggregate.")
            }
            return node.asAggregate.map { note($0) } ?? node
        }
        if let failure { throw failure }
        return result
    }

    /// Returns a slot for the first value of a path that is not null in a group's objects.
    mutating func first(of path: [String]) throws -> ExpressionNode { try take(Aggregate(function: .first, argument: .keyPath(path))) }

    private mutating func take(_ aggregate: Aggregate) throws -> ExpressionNode {
        guard !aggregate.argument.hasAggregate else { throw ResultShape.error("\"\(aggregate.format)\" is an aggregate of an aggregate.") }
        return note(aggregate)
    }

    private mutating func note(_ aggregate: Aggregate) -> ExpressionNode {
        let format = aggregate.format
        if let known = aggregateFormats.firstIndex(of: ExactText(format)) { return .variable(Slot.aggregate(known).name) }
        aggregates.append(aggregate)
        aggregateFormats.append(ExactText(format))
        return .variable(Slot.aggregate(aggregates.count - 1).name)
    }
}

extension ExpressionNode {
    /// The aggregate over a group's objects that this node is: a function with one argument, or an operator that starts a key path.
    fileprivate var asAggregate: GroupedExpressions.Aggregate? {
        switch self {
        case .call(let function, let arguments) where function.isAggregate && arguments.count == 1:
            switch arguments[0] {
            // A function over values that the expression lists itself.
            case .aggregate, .constant, .set, .variable: return nil
            case .call(.distinct, let values) where values.count == 1:
                return GroupedExpressions.Aggregate(function: function, argument: values[0], isDistinct: true)
            default: return GroupedExpressions.Aggregate(function: function, argument: arguments[0])
            }
        case .keyPath(let keys):
            let function: PredicateFunction? = switch keys.first {
            case "@count": .count
            case "@sum": .sum
            case "@avg": .average
            case "@min": .min
            case "@max": .max
            default: nil
            }
            return function.map { GroupedExpressions.Aggregate(function: $0, argument: .keyPath(Array(keys.dropFirst()))) }
        default: return nil
        }
    }

    /// The aggregate over the members of all of a group's objects that this node is: an operator behind a to-many relationship. The average is none,
    /// since objects have different numbers of members.
    fileprivate var overMembers: GroupedExpressions.Aggregate? {
        guard case .keyPath(let keys) = self else { return nil }
        let function: PredicateFunction? = switch keys.first(where: { $0.hasPrefix("@") }) {
        case "@count", "@sum": .sum
        case "@min": .min
        case "@max": .max
        default: nil
        }
        return function.map { GroupedExpressions.Aggregate(function: $0, argument: self) }
    }

    /// Whether the expression contains an aggregate over a group's objects. A function in a subquery is over one object's members.
    var hasAggregate: Bool { hasPart { $0.asAggregate != nil } }

    /// Whether the expression contains a slot of a group.
    fileprivate var hasSlot: Bool { hasPart { GroupedExpressions.Slot($0) != nil } }

    /// Whether the expression reads a key of an object.
    var isOverObject: Bool {
        hasPart { node in
            if case .keyPath = node { return true }
            return false
        }
    }

    /// Whether `isSuch` accepts the expression or a part of it, subqueries aside.
    private func hasPart(_ isSuch: (ExpressionNode) -> Bool) -> Bool {
        var isFound = false
        _ = rewriting(bound: []) { node, bound in
            if bound.isEmpty, isSuch(node) { isFound = true }
            return node
        }
        return isFound
    }

    /// The keys of a path without collection operators, by which objects can be sorted; empty for the object itself.
    var plainPath: [String]? {
        guard case .keyPath(let keys) = self, !keys.contains(where: { $0.hasPrefix("@") }) else { return nil }
        return keys
    }
}
