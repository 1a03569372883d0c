import Foundation

/// The text of values in messages.
package enum ValueText {
    package static func of(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let date as Date: self.date(date) ?? "\(date.timeIntervalSinceReferenceDate) seconds since 2001"
        case let list as [Any]: "[" + list.map { of($0) }.joined(separator: ", ") + "]"
        case let value?: "\(value)"
        }
    }

    /// The form of a value for an error's `userInfo`. A date that has no description becomes a text, so that describing the error cannot trap.
    static func described(_ value: Any) -> Any {
        switch value {
        case let date as Date where self.date(date) == nil: of(date)
        case let list as [Any]: list.map(described)
        default: value
        }
    }

    /// nil for a date that Foundation cannot describe. Foundation traps if the date is not a number.
    static func date(_ date: Date) -> String? { datesWithText.contains(date.timeIntervalSinceReferenceDate) ? "\(date)" : nil }

    private static let datesWithText = Date.distantPast.timeIntervalSinceReferenceDate...Date.distantFuture.timeIntervalSinceReferenceDate
}
