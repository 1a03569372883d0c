import Foundation

/// Predicates joined by AND or OR, or one negated predicate. Extensions in Heartwood's Model layer add its members.
/// Source: https://developer.apple.com/documentation/foundation/nscompoundpredicate
open class NSCompoundPredicate: NSPredicate {
    public enum LogicalType: UInt, Sendable {
        case not, and, or
    }
}
