import Foundation
import Synchronization

/// Formats that were parsed before, with places for their arguments: a program has few formats and asks them often.
///
/// A format is kept where all of its arguments stand for values; one with `%K`, or with an expression or a predicate as an argument, is
/// parsed each time. So is whatever turns out wrong, since only parsing knows where.
enum ParsedFormats {
    /// Stands for an argument in a tree.
    final class Place {
        let index: Int
        /// Of the conversion: `%@` has "@".
        var letters = ""

        init(_ index: Int) {
            self.index = index
        }
    }

    private struct Template: @unchecked Sendable {
        // Unchecked: nothing in a parsed tree changes, and `fill` copies comparisons, which keep matchers.
        let node: PredicateNode
        let count: Int
    }

    private static let limit = 256
    /// nil for a format that has to be parsed each time.
    private static let known = Mutex<[String: Template?]>([:])

    /// - Returns: nil where the format has to be parsed.
    static func node(_ format: String, _ arguments: [Any?]) -> PredicateNode? {
        guard !arguments.isEmpty, let template = known.withLock({ $0[format] ?? nil }), template.count == arguments.count else { return nil }
        var values: [PredicateValue] = []
        for argument in arguments {
            let value = PredicateValue(argument)
            if case .other = value { return nil }
            values.append(value)
        }
        return fill(template.node, values)
    }

    /// Notes a format that was parsed.
    /// - Parameter parse: parses it with other arguments.
    static func note(_ format: String, _ count: Int, _ parse: ([Any?]) throws -> PredicateNode) {
        guard count > 0, !known.withLock({ $0.keys.contains(format) }) else { return }
        let template = (try? parse((0..<count).map(Place.init))).map { Template(node: $0, count: count) }
        known.withLock { known in
            if known.count >= limit { known.removeAll() }
            known.updateValue(template, forKey: format)
        }
    }

    private static func fill(_ node: PredicateNode, _ values: [PredicateValue]) -> PredicateNode? {
        switch node {
        case .constant, .block, .fault: return node
        case .and(let parts): return fill(parts, values).map(PredicateNode.and)
        case .or(let parts): return fill(parts, values).map(PredicateNode.or)
        case .not(let part): return fill(part, values).map(PredicateNode.not)
        case .comparison(let old):
            guard let left = fill(old.left, values), let right = fill(old.right, values) else { return nil }
            let comparison = PredicateNode.Comparison(
                left: left, comparison: old.comparison, right: right, modifier: old.modifier, options: old.options)
            return comparison.fault == nil ? .comparison(comparison) : nil
        }
    }

    private static func fill(_ parts: [PredicateNode], _ values: [PredicateValue]) -> [PredicateNode]? {
        var filled: [PredicateNode] = []
        for part in parts {
            guard let part = fill(part, values) else { return nil }
            filled.append(part)
        }
        return filled
    }

    private static func fill(_ node: ExpressionNode, _ values: [PredicateValue]) -> ExpressionNode? {
        switch node {
        case .keyPath: return node
        case .constant(.other(let object)):
            guard let place = object as? Place else { return node }
            return PredicateParser.takes(values[place.index], as: place.letters) ? .constant(values[place.index]) : nil
        case .constant: return node
        // Predicates within have comparisons of their own to copy.
        case .subquery(let collection, let variable, let predicate):
            guard let collection = fill(collection, values), let predicate = fill(predicate, values) else { return nil }
            return .subquery(collection, variable: variable, predicate)
        case .conditional(let predicate, let first, let second):
            guard let predicate = fill(predicate, values), let first = fill(first, values), let second = fill(second, values) else { return nil }
            return .conditional(predicate, first, second)
        case .path(let base, let keys): return fill(base, values).map { .path($0, keys) }
        case .aggregate(let list): return fill(list, values).map(ExpressionNode.aggregate)
        case .call(let function, let list): return fill(list, values).map { .call(function, $0) }
        case .set(let operation, let left, let right):
            guard let left = fill(left, values), let right = fill(right, values) else { return nil }
            return .set(operation, left, right)
        case .variable, .block, .fault: return node
        }
    }

    private static func fill(_ list: [ExpressionNode], _ values: [PredicateValue]) -> [ExpressionNode]? {
        var filled: [ExpressionNode] = []
        for item in list {
            guard let item = fill(item, values) else { return nil }
            filled.append(item)
        }
        return filled
    }
}
