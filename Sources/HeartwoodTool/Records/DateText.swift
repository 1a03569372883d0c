import Foundation

/// Dates as text: ISO 8601 in UTC and the Gregorian calendar at all times, with as many digits of a second as lead back to the same date. A date
/// outside the years 1 to 9999, or with more digits than people read, is written as seconds since 1970.
enum DateText {
    private static let style = Date.ISO8601FormatStyle()
    /// Seconds since 2001 of the dates from the year 1 to the year 9999.
    private static let years = -63_113_904_000.0..<252_423_993_600
    /// Foundation's calendar is the Julian one before 1582-10-15, and ISO 8601 has none but the Gregorian. So earlier dates are written as those
    /// 2000 years later, which are alike: the Gregorian calendar repeats itself after 400 years of 146,097 days.
    private static let firstGregorian = -13_190_860_800.0
    private static let shiftYears = 2000, shift = 5 * 146_097 * 86400.0
    /// Seconds from 1970 to 2001.
    private static let epoch: Int64 = 978_307_200

    static func json(_ date: Date) -> JSONValue { iso(date).map(JSONValue.text) ?? secondsSince1970(date) }

    private static func iso(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard years.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down)
        guard let digits = digits(of: seconds, behind: whole) else { return nil }
        return wholeSeconds(whole).dropLast() + ".\(digits)Z"
    }

    private static func wholeSeconds(_ seconds: Double) -> String {
        guard seconds < firstGregorian else { return Date(timeIntervalSinceReferenceDate: seconds).formatted(style) }
        let later = Date(timeIntervalSinceReferenceDate: seconds + shift).formatted(style)
        return movingYear(of: later, by: -shiftYears) ?? later
    }

    /// - Returns: nil for a text that begins with no year of four digits.
    private static func movingYear(of text: String, by years: Int) -> String? {
        guard text.utf8.count > 4, text.utf8.prefix(4).allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let year = Int(text.prefix(4))
        else { return nil }
        return String(format: "%04d", year + years) + text.dropFirst(4)
    }

    /// The digits behind the decimal point, three at least.
    private static func digits(of seconds: Double, behind whole: Double) -> String? {
        let fraction = seconds - whole
        for count in 3...17 {
            let text = String(format: "%.\(count)f", fraction)
            if text.hasPrefix("0."), let read = Double(text), whole + read == seconds { return String(text.dropFirst(2)) }
        }
        return nil
    }

    /// A number if one leads back to the same date, else a text of all its digits. Dates have a double of seconds since 2001, and the seconds since
    /// 1970 may not fit in a double.
    private static func secondsSince1970(_ date: Date) -> JSONValue {
        let about = date.timeIntervalSince1970
        if self.date(seconds: "\(about)") == date { return .double(about) }
        let exact = String(format: "%.1100f", date.timeIntervalSinceReferenceDate)
        guard let text = DecimalDigits(exact)?.adding(epoch) else { return .double(about) }
        return .text(text)
    }

    /// - Parameter text: seconds since 1970. The result is nil if it is not a number, or one that no date can hold.
    static func date(seconds text: String) -> Date? {
        guard let number = FloatText.value(text, as: Double.self) else { return nil }
        guard let exact = DecimalDigits(text)?.adding(-epoch).flatMap(Double.init) else { return Date(timeIntervalSince1970: number) }
        return Date(timeIntervalSinceReferenceDate: exact)
    }

    /// - Parameter text: ISO 8601 (`ISO8601Text`), or seconds since 1970.
    static func date(_ text: String) -> Date? {
        ISO8601Text.seconds(text).map(Date.init(timeIntervalSinceReferenceDate:)) ?? date(seconds: text)
    }
}
