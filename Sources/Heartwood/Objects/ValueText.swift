import Foundation

/// Values as messages show them.
package enum ValueText {
    package static func of(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let date as Date: self.date(date) ?? "\(date.timeIntervalSinceReferenceDate) seconds since 2001"
        case let list as [Any]: "[" + list.map { of($0) }.joined(separator: ", ") + "]"
        case let value?: "\(value)"
        }
    }

    /// nil for a date that Foundation has no text for. It traps where the date is not a number.
    static func date(_ date: Date) -> String? { (.distantPast ... .distantFuture).contains(date) ? "\(date)" : nil }
}
