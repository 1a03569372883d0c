import Foundation

/// Predicates joined by AND or OR, or one that is negated. Its members are with the predicate language, in the stack.
/// Source: https://developer.apple.com/documentation/foundation/nscompoundpredicate
open class NSCompoundPredicate: NSPredicate {
    public enum LogicalType: UInt, Sendable {
        case not, and, or
    }
}
