import Foundation

extension NSSortDescriptor {
    /// How texts are put in order. Apple's platforms name a method for it, by its selector.
    ///
    /// - Complexity: a fetch by `.literal` may take its order from an index; by `.caseInsensitive` it folds each text once; by the others,
    ///   which ask Foundation about the current locale, a comparison takes about a microsecond. Null comes first in each.
    public enum TextOrder: String, Sendable, CaseIterable {
        /// By UTF-8 bytes.
        case literal = "compare:"
        /// By UTF-8 bytes, without regard to case, as the option `[c]` of predicates has it.
        case caseInsensitive = "caseInsensitiveCompare:"
        /// As words are in the order of the current locale.
        case localized = "localizedCompare:"
        /// The same without regard to case.
        case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
        /// As lists of names are shown to people in the current locale: numbers within a text are in order of their values.
        case localizedStandard = "localizedStandardCompare:"

        /// Whether only Foundation knows it.
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
