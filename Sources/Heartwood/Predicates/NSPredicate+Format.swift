import Foundation

// Off Apple's platforms Foundation's NSPredicate has no formats. These initializers have the signatures that are missing;
// the parsed tree travels inside a block predicate, which hands it over when it is asked with a probe.

/// Asks a predicate for its tree.
private final class PredicateProbe {
    var node: PredicateNode?
}

extension NSPredicate {
    /// Parses a predicate format.
    /// - Precondition: the format is well-formed and the arguments suit it, as on Apple's platforms; the message quotes the
    ///   format and marks the place. For formats that users type, see `init(parsing:argumentArray:)`.
    public convenience init(format: String, _ args: any CVarArg...) {
        self.init(node: Self.parse(format, args))
    }

    /// As `init(format:_:)`, with the arguments in an array.
    public convenience init(format: String, argumentArray arguments: [Any]?) {
        self.init(node: Self.parse(format, arguments ?? []))
    }

    /// Parses a format that comes from outside the program.
    /// - Throws: an error whose description quotes the format and marks the place.
    public convenience init(parsing format: String, argumentArray arguments: [Any]? = nil) throws {
        self.init(node: try PredicateParser.parse(format, arguments: arguments ?? []))
    }

    private static func parse(_ format: String, _ arguments: [Any]) -> PredicateNode {
        do {
            return try PredicateParser.parse(format, arguments: arguments)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    convenience init(node: PredicateNode) {
        // Predicates are not Sendable, and Foundation only calls the block where the predicate is evaluated.
        nonisolated(unsafe) let node = node
        self.init(block: { subject, _ in
            if let probe = subject as? PredicateProbe {
                probe.node = node
                return false
            }
            return node.evaluate(subject)
        })
    }

    /// The tree of a predicate made by a format, of a constant one, and of compounds of such; nil for a block.
    var heartwoodNode: PredicateNode? {
        if let compound = self as? NSCompoundPredicate {
            var parts: [PredicateNode] = []
            for part in compound.subpredicates {
                guard let node = part.heartwoodNode else { return nil }
                parts.append(node)
            }
            switch compound.compoundPredicateType {
            case .and: return parts.isEmpty ? .constant(true) : .and(parts)
            case .or: return parts.isEmpty ? .constant(false) : .or(parts)
            case .not: return parts.first.map { .not($0) }
            @unknown default: return nil
            }
        }
        if isEqual(NSPredicate(value: true)) { return .constant(true) }
        if isEqual(NSPredicate(value: false)) { return .constant(false) }
        let probe = PredicateProbe()
        _ = evaluate(with: probe)
        return probe.node
    }
}
