import Foundation
import Synchronization

/// Formats that were parsed before, with places for their arguments: a program has few formats and asks them often.
///
/// A format is kept where all of its arguments stand for values; one with `%K`, or with an expression or a predicate as an argument, is
/// parsed each time. So is whatever turns out wrong, since only parsing knows where.
enum ParsedFormats {
    private struct Known {
        /// nil for a format that has to be parsed each time. By their bytes: texts that Swift calls equal may have literals that a fetch tells
        /// apart.
        var templates: [ExactText: FormatTemplate?] = [:]
        /// What was found last: to compare it takes a fifth of what hashing does. Apart, so that the format is compared where it is.
        private var newest: FormatTemplate?
        private var newestFormat = ""

        mutating func template(_ format: String) -> FormatTemplate? {
            if newestFormat.hasSameBytes(as: format), let newest { return newest }
            guard let found = templates[ExactText(format)] ?? nil else { return nil }
            (newest, newestFormat) = (found, format)
            return found
        }
    }

    private static let limit = 256
    private static let known = Mutex(Known())

    private static func template(_ format: String) -> FormatTemplate? { known.withLock { $0.template(format) } }

    /// The tree of a format that was asked before, and whose argument is compared with a key path.
    /// - Returns: nil where the format has to be looked at.
    static func tree(_ format: String, _ argument: any CVarArg) -> PredicateTree? {
        guard let template = template(format) else { return nil }
        let value = PredicateValue(argument: argument)
        return template.takes(value) ? PredicateTree(template, value) : nil
    }

    /// - Returns: nil where the format has to be parsed.
    static func tree(_ format: String, _ arguments: [Any?]) -> PredicateTree? {
        guard !arguments.isEmpty, let template = template(format), let node = template.filled(with: arguments) else { return nil }
        return PredicateTree(node, depth: template.depth, number: template.number)
    }

    /// Notes a format that was parsed.
    /// - Parameter parse: parses it with other arguments.
    static func note(_ format: String, _ count: Int, _ parse: ([Any?]) throws -> PredicateNode) {
        let key = ExactText(format)
        guard count > 0, !known.withLock({ $0.templates.keys.contains(key) }) else { return }
        let template = (try? parse((0..<count).map(FormatTemplate.Place.init))).map { FormatTemplate($0, argumentCount: count) }
        known.withLock { known in
            if known.templates.count >= limit { known.templates.removeAll() }
            known.templates.updateValue(template, forKey: key)
        }
    }
}
