import Foundation
import Synchronization

/// A cache of parsed formats with placeholders for their arguments. A program has few formats and uses them often.
///
/// A format is kept if each of its arguments is a value. A format with `%K`, or with an expression or a predicate as an argument, is parsed
/// each time. So is a format with an error, since only parsing finds the position.
final class FormatCache: Sendable {
    /// Those of the process.
    static let shared = FormatCache()

    /// The formats that came first: a program's own, mostly.
    private let kept = FormatTable()
    /// Formats that `kept` has no room for; nil for one that must be parsed each time. The keys compare by bytes: texts that Swift treats as equal
    /// may contain literals that a fetch distinguishes.
    private let others = Mutex<[ExactText: FormatTemplate?]>([:])
    private static let othersMax = 256

    private func template(_ format: String) -> KnownFormat? {
        kept.template(format) ?? others.withLock { ($0[ExactText(format)] ?? nil).map { KnownFormat($0) } }
    }

    /// The tree of a known format whose only argument is compared with a key path.
    /// - Returns: nil if the format is not known or the argument does not fit.
    func tree(_ format: String, _ argument: any CVarArg) -> PredicateTree? {
        guard let template = template(format), template.read(\.isSingle) else { return nil }
        let value = PredicateValue(argument: argument)
        return template.read { $0.takes(value) } ? PredicateTree(template, value) : nil
    }

    /// - Returns: nil if the format must be parsed.
    func tree(_ format: String, _ arguments: [Any?]) -> PredicateTree? {
        guard !arguments.isEmpty, let template = template(format), let (node, values) = template.read({ $0.filled(with: arguments) })
        else { return nil }
        return PredicateTree(node, of: template, values)
    }

    /// Keeps a format that was parsed.
    /// - Parameter parse: parses it with other arguments.
    func note(_ format: String, _ count: Int, _ parse: ([Any?]) throws -> PredicateNode) {
        let key = ExactText(format)
        guard count > 0, kept.template(format) == nil, !others.withLock({ $0.keys.contains(key) }) else { return }
        let template = (try? parse((0..<count).map(FormatTemplate.Placeholder.init))).map { FormatTemplate($0, argumentCount: count) }
        others.withLock { others in
            // The lock lets one thread at a time keep a format, which another may have kept in the meantime.
            guard kept.template(format) == nil else { return }
            if let template, kept.keep(format, template) { return }
            if others.count >= Self.othersMax { others.removeAll() }
            others.updateValue(template, forKey: key)
        }
    }
}
