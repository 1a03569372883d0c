import Foundation

/// Dates as text: ISO 8601 in UTC, with as many digits of a second as lead back to the same date. A date outside the years 1 to 9999, or with more
/// digits than people read, is written as seconds since 1970.
enum DateText {
    private static let style = Date.ISO8601FormatStyle()
    /// Seconds since 2001 of the dates whose year has four digits.
    private static let years = Date.distantPast.timeIntervalSinceReferenceDate..<252_423_993_600
    /// Seconds from 1970 to 2001.
    private static let epoch: Int64 = 978_307_200

    static func json(_ date: Date) -> JSONValue { iso(date).map(JSONValue.text) ?? secondsSince1970(date) }

    private static func iso(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard years.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down)
        guard let digits = digits(of: seconds, behind: whole) else { return nil }
        return Date(timeIntervalSinceReferenceDate: whole).formatted(style).dropLast() + ".\(digits)Z"
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

    /// - Parameter text: seconds since 1970. The result is nil if it is not a number.
    static func date(seconds text: String) -> Date? {
        guard let number = Double(text) else { return nil }
        guard let exact = DecimalDigits(text)?.adding(-epoch).flatMap(Double.init) else { return Date(timeIntervalSince1970: number) }
        return Date(timeIntervalSinceReferenceDate: exact)
    }

    /// - Parameter text: ISO 8601, or seconds since 1970.
    static func date(_ text: String) -> Date? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[0].contains("T"), let zone = parts[1].firstIndex(where: { !("0"..."9").contains($0) }),
            zone > parts[1].startIndex, let whole = try? Date(parts[0] + parts[1][zone...], strategy: style),
            let fraction = Double("0." + parts[1][..<zone]) {
            return Date(timeIntervalSinceReferenceDate: whole.timeIntervalSinceReferenceDate + fraction)
        }
        return (try? Date(text, strategy: style)) ?? date(seconds: text)
    }
}
