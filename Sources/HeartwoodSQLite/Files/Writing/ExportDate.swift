import Foundation
import Heartwood

/// Dates as text that sorts as the dates do: ISO 8601 in UTC with six digits of a second, which SQLite's date functions read.
enum ExportDate {
    /// Seconds since 2001 of the dates from the year 1 to the year 9999. Their doubles are too far apart to round up to the year 10000.
    private static let years = -63_113_904_000.0..<252_423_993_600.0
    private static let secondsPerDay: Int64 = 86400
    private static let microsecond = 1e-6
    /// From 0000-03-01 to 2001-01-01.
    private static let daysFromEra: Int64 = 730_791

    /// Seconds from 1970 to 2001.
    private static let epoch = 978_307_200.0

    /// - Parameter seconds: since 2001. Outside of the years 1 to 9999 the text is the number of seconds since 1970, as in the tool's JSON Lines.
    static func text(_ seconds: Double) -> String {
        guard years.contains(seconds) else { return "\(seconds + epoch)" }
        var whole = Int64(seconds.rounded(.down)), micros = Int64(((seconds - seconds.rounded(.down)) / microsecond).rounded())
        if micros == 1_000_000 { (whole, micros) = (whole + 1, 0) }
        let day = whole.dividingFloor(by: secondsPerDay), second = whole - day * secondsPerDay, civil = date(day)
        return "\(padded(civil.year, 4))-\(padded(civil.month, 2))-\(padded(civil.day, 2))"
            + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2)).\(padded(micros, 6))Z"
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    /// The proleptic Gregorian date of a day since 2001. A year begins in March, so that its leap day is its last.
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    private static func date(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = day + daysFromEra, era = days.dividingFloor(by: 146_097), dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100), shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func dividingFloor(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self < 0 && quotient * divisor != self ? quotient - 1 : quotient
    }
}
