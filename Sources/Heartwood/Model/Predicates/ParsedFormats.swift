import Foundation
import Synchronization

/// A cache of parsed formats with placeholders for their arguments. A program has few formats and uses them often.
///
/// A format is kept if each of its arguments is a value. A format with `%K`, or with an expression or a predicate as an argument, is parsed
/// each time. So is a format with an error, since only parsing finds the position.
enum ParsedFormats {
    private struct Known {
        /// nil for a format that must be parsed each time. The keys compare by bytes: texts that Swift treats as equal may contain literals that a
        /// fetch distinguishes.
        var templates: [ExactText: FormatTemplate?] = [:]
        /// The template found last. Comparing its format takes a fifth of hashing. Separate properties let the format be compared without a copy.
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

    /// The tree of a known format whose only argument is compared with a key path.
    /// - Returns: nil if the format is not known or the argument does not fit.
    static func tree(_ format: String, _ argument: any CVarArg) -> PredicateTree? {
        guard let template = template(format), template.isSingle else { return nil }
        let value = PredicateValue(argument: argument)
        return template.takes(value) ? PredicateTree(template, value) : nil
    }

    /// - Returns: nil if the format must be parsed.
    static func tree(_ format: String, _ arguments: [Any?]) -> PredicateTree? {
        guard !arguments.isEmpty, let template = template(format), let (node, values) = template.filled(with: arguments) else { return nil }
        return PredicateTree(node, of: template, values)
    }

    /// Keeps a format that was parsed.
    /// - Parameter parse: parses it with other arguments.
    static func note(_ format: String, _ count: Int, _ parse: ([Any?]) throws -> PredicateNode) {
        let key = ExactText(format)
        guard count > 0, !known.withLock({ $0.templates.keys.contains(key) }) else { return }
        let template = (try? parse((0..<count).map(FormatTemplate.Placeholder.init))).map { FormatTemplate($0, argumentCount: count) }
        known.withLock { known in
            if known.templates.count >= limit { known.templates.removeAll() }
            known.templates.updateValue(template, forKey: key)
        }
    }
}
