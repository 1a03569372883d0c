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

    private final class Template: @unchecked Sendable {
        // Unchecked: nothing in a parsed tree changes but the matchers of its comparisons, which are the rewritten tree's own.
        let node: PredicateNode
        let count: Int
        /// No other format ever has it.
        let number: Int
        /// A comparison whose right side alone is an argument: the commonest.
        let simple: (comparison: PredicateNode.Comparison, letters: String)?

        private static let made = Atomic(0)

        init(_ node: PredicateNode, _ count: Int) {
            self.node = node
            self.count = count
            number = Self.made.add(1, ordering: .relaxed).newValue
            if count == 1, case .comparison(let comparison) = node, case .keyPath = comparison.left,
                case .constant(.other(let object)) = comparison.right, let place = object as? Place
            {
                simple = (comparison, place.letters)
            } else {
                simple = nil
            }
        }
    }

    private static let limit = 256
    /// nil for a format that has to be parsed each time.
    private static let known = Mutex<[String: Template?]>([:])

    /// - Returns: the tree, and the format's number; nil where the format has to be parsed.
    static func node(_ format: String, _ arguments: [Any?]) -> (node: PredicateNode, number: Int)? {
        guard !arguments.isEmpty, let template = known.withLock({ $0[format] ?? nil }), template.count == arguments.count else { return nil }
        if let simple = template.simple {
            let value = PredicateValue(arguments[0]), model = simple.comparison
            if case .other = value { return nil }
            let comparison = PredicateNode.Comparison(
                left: model.left, comparison: model.comparison, right: .constant(value), modifier: model.modifier, options: model.options)
            guard PredicateParser.takes(value, as: simple.letters), comparison.fault == nil else { return nil }
            return (.comparison(comparison), template.number)
        }
        var values: [PredicateValue] = []
        for argument in arguments {
            let value = PredicateValue(argument)
            if case .other = value { return nil }
            values.append(value)
        }
        var fits = true
        let node = template.node.rewriting { node, _ in
            switch node {
            case .constant(.other(let object)):
                guard let place = object as? Place else { return node }
                fits = fits && PredicateParser.takes(values[place.index], as: place.letters)
                return .constant(values[place.index])
            case .subquery(_, _, let predicate), .conditional(let predicate, _, _): fits = fits && !predicate.hasFaultyComparison
            default: break
            }
            return node
        }
        return fits && !node.hasFaultyComparison ? (node, template.number) : nil
    }

    /// Notes a format that was parsed.
    /// - Parameter parse: parses it with other arguments.
    static func note(_ format: String, _ count: Int, _ parse: ([Any?]) throws -> PredicateNode) {
        guard count > 0, !known.withLock({ $0.keys.contains(format) }) else { return }
        let template = (try? parse((0..<count).map(Place.init))).map { Template($0, count) }
        known.withLock { known in
            if known.count >= limit { known.removeAll() }
            known.updateValue(template, forKey: format)
        }
    }
}

extension PredicateNode {
    /// Whether parsing would refuse one of its comparisons for what is constant in it; those inside expressions left out.
    fileprivate var hasFaultyComparison: Bool {
        switch self {
        case .constant, .block, .fault: false
        case .and(let parts), .or(let parts): parts.contains(where: \.hasFaultyComparison)
        case .not(let part): part.hasFaultyComparison
        case .comparison(let comparison): comparison.fault != nil
        }
    }
}
