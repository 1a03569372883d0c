import Foundation

/// A validation predicate, prepared for saves. Plain limits are tested on the stored form of a value, everything else on the value itself.
enum ValueTest {
    case integer(ComparisonOperator, Int64)
    case number(ComparisonOperator, Double)
    case decimal(ComparisonOperator, Decimal)
    /// Seconds since 2001-01-01 UTC.
    case date(ComparisonOperator, Double)
    /// The length of a string in UTF-16 units, as `NSString` counts.
    case length(ComparisonOperator, Int64)
    /// The whole text must match the regular expression. The string is the expression as stated.
    case pattern(TextMatcher, String)
    case other

    init(_ predicate: NSPredicate) {
        self = .other
        guard case .comparison(let comparison) = predicate.node, comparison.modifier == .direct,
            case .keyPath(let keys) = comparison.left, case .constant(let constant) = comparison.right
        else { return }
        if case .text(let pattern) = constant, comparison.comparison == .matches, keys.isEmpty, comparison.options.isEmpty {
            if let matcher = try? TextMatcher(.matches, pattern, options: []) { self = .pattern(matcher, pattern) }
            return
        }
        guard let order = comparison.comparison.order, order != .equal, order != .notEqual else { return }
        switch constant {
        case .integer(let limit) where keys.isEmpty: self = .integer(order, limit)
        case .double(let limit) where keys.isEmpty: self = .number(order, limit)
        case .decimal(let limit) where keys.isEmpty: self = .decimal(order, limit)
        case .date(let limit) where keys.isEmpty: self = .date(order, limit)
        case .integer(let limit) where keys == ["length"]: self = .length(order, limit)
        default: return
        }
    }

    /// Whether `value` passes the test; nil if only the predicate itself can tell. A text on which the pattern takes too many steps fails.
    func holds(_ value: ManagedValue) -> Bool? {
        switch (self, value) {
        case (.integer(let comparison, let limit), .integer(let number)): comparison.holds(number, limit)
        case (.integer(let comparison, let limit), .double(let number)): comparison.holds(number, Double(limit))
        case (.number(let comparison, let limit), .double(let number)): comparison.holds(number, limit)
        case (.date(let comparison, let limit), .date(let date)): comparison.holds(date, limit)
        case (.length(let comparison, let limit), .text(let text)): comparison.holds(Int64(text.utf16.count), limit)
        case (.pattern(let matcher, _), .text(let text)): (try? matcher.matches(text)) ?? false
        default: nil
        }
    }

    /// The error code for a failed test if the model states none.
    var errorCode: Int {
        switch self {
        case .integer(let comparison, _), .number(let comparison, _), .decimal(let comparison, _):
            Self.isLower(comparison) ? NSValidationNumberTooSmallError : NSValidationNumberTooLargeError
        case .date(let comparison, _): Self.isLower(comparison) ? NSValidationDateTooSoonError : NSValidationDateTooLateError
        case .length(let comparison, _): Self.isLower(comparison) ? NSValidationStringTooShortError : NSValidationStringTooLongError
        case .pattern: NSValidationStringPatternMatchingError
        case .other: NSManagedObjectValidationError
        }
    }

    private static func isLower(_ comparison: ComparisonOperator) -> Bool {
        comparison == .greater || comparison == .greaterOrEqual
    }
}
