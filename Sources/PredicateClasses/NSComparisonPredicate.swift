import Foundation

/// A comparison of two expressions. Its members are with the predicate language, in the stack.
/// Source: https://developer.apple.com/documentation/foundation/nscomparisonpredicate
open class NSComparisonPredicate: NSPredicate {
    /// How a comparison treats a collection on its left.
    public enum Modifier: UInt, Sendable {
        case direct, all, any
    }

    public enum Operator: UInt, Sendable {
        case lessThan, lessThanOrEqualTo, greaterThan, greaterThanOrEqualTo, equalTo, notEqualTo, matches, like, beginsWith, endsWith, `in`
        case contains = 99
        case between = 100
    }

    /// How strings compare; the letters are those of a format.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// `[c]`
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: by bytes, whatever else is given.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: by the rules of the current locale.
        public static let localeSensitive = Options(rawValue: 8)
    }
}
