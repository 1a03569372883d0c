import Foundation

/// A comparison of two expressions. Extensions in Heartwood's Model layer add its members.
/// Source: https://developer.apple.com/documentation/foundation/nscomparisonpredicate
open class NSComparisonPredicate: NSPredicate {
    /// The treatment of a collection on a comparison's left side.
    public enum Modifier: UInt, Sendable {
        case direct, all, any
    }

    public enum Operator: UInt, Sendable {
        case lessThan, lessThanOrEqualTo, greaterThan, greaterThanOrEqualTo, equalTo, notEqualTo, matches, like, beginsWith, endsWith, `in`
        case contains = 99
        case between = 100
    }

    /// The way in which strings compare. Each comment below gives the letter for formats.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// `[c]`
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: by bytes; overrides the other options.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: by the rules of the current locale.
        public static let localeSensitive = Options(rawValue: 8)
    }
}
