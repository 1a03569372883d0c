import Foundation

/// Dates as text: ISO 8601 in UTC, with as many digits of a second as lead back to the same date. One beyond the years 1 to 9999 is the
/// seconds since 1970.
enum DateText {
    private static let style = Date.ISO8601FormatStyle()
    /// Seconds since 2001 of what has a year of four digits.
    private static let years = Date.distantPast.timeIntervalSinceReferenceDate..<252_423_993_600

    static func json(_ date: Date) -> JSONValue { iso(date).map(JSONValue.text) ?? .double(secondsSince1970(date)) }

    private static func iso(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard years.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down)
        guard let digits = digits(of: seconds, behind: whole) else { return nil }
        return Date(timeIntervalSinceReferenceDate: whole).formatted(style).dropLast() + ".\(digits)Z"
    }

    /// The digits behind the point, three at least.
    private static func digits(of seconds: Double, behind whole: Double) -> String? {
        let fraction = seconds - whole
        for count in 3...17 {
            let text = String(format: "%.\(count)f", fraction)
            if text.hasPrefix("0."), let read = Double(text), whole + read == seconds { return String(text.dropFirst(2)) }
        }
        return nil
    }

    private static func secondsSince1970(_ date: Date) -> Double {
        let about = date.timeIntervalSince1970
        return [about, about.nextUp, about.nextDown].first { Date(timeIntervalSince1970: $0) == date } ?? about
    }

    /// - Parameter text: ISO 8601, or seconds since 1970.
    static func date(_ text: String) -> Date? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[0].contains("T"), let zone = parts[1].firstIndex(where: { !("0"..."9").contains($0) }),
            zone > parts[1].startIndex, let whole = try? Date(parts[0] + parts[1][zone...], strategy: style),
            let fraction = Double("0." + parts[1][..<zone]) {
            return Date(timeIntervalSinceReferenceDate: whole.timeIntervalSinceReferenceDate + fraction)
        }
        return (try? Date(text, strategy: style)) ?? Double(text).map { Date(timeIntervalSince1970: $0) }
    }
}
