/// A time, a day, a month or a year that a person wrote, as ISO 8601 has them: 2024-02-29T12:30:00.5+01:00, 2024-02-29, 2024-02, 2024.
///
/// A time may leave out its seconds and its zone, and a space may stand for the T, as RFC 3339 allows. Days, and times without a zone, are those of
/// UTC, as the tool writes times. The zone may also be written as +0100 and +01. Foundation's reader takes an impossible date for another one: the
/// 31st of February for a day of March, 25:00 for the next day.
struct ISO8601Text {
    /// Seconds since 2001: a time, or the beginning of a day, a month or a year.
    let start: Double
    /// The first time behind a day, a month or a year; equal to `start` for a time.
    let end: Double

    /// - Returns: nil if the text is no time and no day, if no year has this day, or no day this time.
    init?(_ text: String) {
        var reader = ISO8601Reader(text)
        guard let day = reader.day() else { return nil }
        let midnight = day * 86400
        guard !reader.isAtEnd else {
            (start, end) = (Double(midnight), Double(midnight + 86400))
            return
        }
        guard let time = reader.timeOfDay() else { return nil }
        start = Double(midnight + time.seconds) + time.fraction
        end = start
    }

    /// - Returns: nil if the text is no month and no year.
    init?(monthOrYear text: String) {
        var reader = ISO8601Reader(text)
        guard let days = reader.monthOrYear(), reader.isAtEnd else { return nil }
        (start, end) = (Double(days.lowerBound * 86400), Double(days.upperBound * 86400))
    }

    var isTime: Bool { start == end }
}

/// Reads the parts of dates and times from the beginning of a text on.
private struct ISO8601Reader {
    /// Days from the year 1 to 2001 in the Gregorian calendar, which ISO 8601 has for all times.
    private static let daysTo2001 = 730_485
    private static let daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]
    /// Digits of a fraction that no date tells apart.
    private static let fractionDigitsMax = 400

    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    // MARK: Days

    /// The year 0 and those before it have no form in RFC 3339 that all readers agree about.
    private mutating func year() -> Int? { number(digits: 4).flatMap { $0 >= 1 ? $0 : nil } }

    private mutating func month() -> Int? { number(digits: 2).flatMap { (1...12).contains($0) ? $0 : nil } }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// The whole days from 2001 to the first of a month; the 13th month is the next year's first.
    private static func days(toMonth month: Int, of year: Int) -> Int {
        let before = year - 1
        return before * 365 + before / 4 - before / 100 + before / 400 + daysBeforeMonth[month - 1] + (isLeap(year) && month > 2 ? 1 : 0) - daysTo2001
    }

    /// The whole days since 2001.
    mutating func day() -> Int? {
        guard let year = year(), skip("-"), let month = month(), skip("-"), let day = number(digits: 2) else { return nil }
        let first = Self.days(toMonth: month, of: year), next = Self.days(toMonth: month + 1, of: year)
        return (1...next - first).contains(day) ? first + day - 1 : nil
    }

    /// The whole days since 2001 to the beginning of a month or a year, and to the beginning of the next one.
    mutating func monthOrYear() -> Range<Int>? {
        guard let year = year() else { return nil }
        guard skip("-") else { return Self.days(toMonth: 1, of: year)..<Self.days(toMonth: 13, of: year) }
        return month().map { Self.days(toMonth: $0, of: year)..<Self.days(toMonth: $0 + 1, of: year) }
    }

    // MARK: Times

    /// The seconds since midnight by UTC, and the fraction of a second. A zone may make them negative.
    mutating func timeOfDay() -> (seconds: Int, fraction: Double)? {
        guard skip("T") || skip("t") || skip(" "), let minutes = minutes() else { return nil }
        var seconds = minutes * 60, fraction = 0.0
        if skip(":") {
            guard let second = second(), let part = self.fraction() else { return nil }
            (seconds, fraction) = (seconds + second, part)
        }
        guard let offset = isAtEnd ? 0 : offset(), isAtEnd else { return nil }
        return (seconds - offset, fraction)
    }

    /// The minutes since midnight.
    private mutating func minutes() -> Int? {
        guard let hour = number(digits: 2), hour < 24, skip(":"), let minute = number(digits: 2), minute < 60 else { return nil }
        return hour * 60 + minute
    }

    /// A leap second, 23:59:60, is none: a date cannot hold it.
    private mutating func second() -> Int? { number(digits: 2).flatMap { $0 < 60 ? $0 : nil } }

    /// 0 where there is none.
    private mutating func fraction() -> Double? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest[digits.endIndex...]
        return digits.isEmpty ? nil : Double("0." + String(decoding: digits.prefix(Self.fractionDigitsMax), as: UTF8.self))
    }

    /// The seconds that the zone is ahead of UTC.
    private mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let isAhead = skip("+")
        guard isAhead || skip("-"), let hours = number(digits: 2), hours < 24 else { return nil }
        let hasMinutes = skip(":") || !rest.isEmpty
        guard let minutes = hasMinutes ? number(digits: 2) : 0, minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (isAhead ? 60 : -60)
    }

    // MARK: Parts

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// A number of exactly so many digits.
    private mutating func number(digits count: Int) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            rest.removeFirst()
        }
        return value
    }
}
