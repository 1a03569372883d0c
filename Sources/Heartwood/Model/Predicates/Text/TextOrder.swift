import Foundation

extension NSSortDescriptor {
    /// The order of texts. Apple's platforms identify an order by the selector of a method, which is the raw value.
    ///
    /// - Complexity: a fetch by `.literal` may take its order from an index; by `.caseInsensitive` it folds each text once; by the others,
    ///   which use Foundation and the current locale, a comparison takes about a microsecond. Null comes first in each.
    public enum TextOrder: String, Sendable, CaseIterable {
        /// By UTF-8 bytes.
        case literal = "compare:"
        /// By UTF-8 bytes, ignoring case as the option `[c]` of predicates does.
        case caseInsensitive = "caseInsensitiveCompare:"
        /// By the word order of the current locale.
        case localized = "localizedCompare:"
        /// By the word order of the current locale, ignoring case.
        case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
        /// By the order in which lists of names are shown in the current locale: numbers within a text are ordered by value.
        case localizedStandard = "localizedStandardCompare:"

        /// Whether only Foundation can compare by it.
        var isLocalized: Bool { self != .literal && self != .caseInsensitive }

        func compare(_ a: String, _ b: String) -> ComparisonResult {
            switch self {
            case .literal: PredicateValue.text(a).ordered(.text(b)) ?? .orderedSame
            case .caseInsensitive: Self.literal.compare(Self.folded(a), Self.folded(b))
            case .localized: a.localizedCompare(b)
            case .localizedCaseInsensitive: a.localizedCaseInsensitiveCompare(b)
            case .localizedStandard: a.localizedStandardCompare(b)
            }
        }

        private static func folded(_ text: String) -> String { TextMatcher.fold(text, .caseInsensitive) }
    }
}
