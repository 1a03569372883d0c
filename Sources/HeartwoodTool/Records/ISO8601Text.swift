/// Reads a point in time as RFC 3339 writes it, the profile of ISO 8601 with all parts: 2024-02-29T12:30:00.5+01:00. The zone may also be written
/// as +0100 and +01. Foundation's reader takes an impossible date for another one: the 31st of February for a day of March, 25:00 for the next day.
struct ISO8601Text {
    /// Days from the year 1 to 2001 in the Gregorian calendar, which ISO 8601 has for all times.
    private static let daysTo2001 = 730_485
    private static let daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
    /// Digits of a fraction that no date tells apart.
    private static let fractionDigitsMax = 400

    private var rest: Substring.UTF8View

    private init(_ text: String) {
        rest = text[...].utf8
    }

    /// - Returns: seconds since 2001; nil if the text has another form, no year has this day, or no day this time.
    static func seconds(_ text: String) -> Double? {
        var reader = ISO8601Text(text)
        guard let day = reader.day(), reader.skip("T") || reader.skip("t"), let time = reader.time(), let fraction = reader.fraction(),
            let offset = reader.offset(), reader.rest.isEmpty
        else { return nil }
        return Double(day * 86400 + time - offset) + fraction
    }

    /// The whole days since 2001. The year 0 and those before it have no form in RFC 3339 that all readers agree about.
    private mutating func day() -> Int? {
        guard let year = number(digits: 4), year >= 1, skip("-"), let month = number(digits: 2), (1...12).contains(month), skip("-"),
            let day = number(digits: 2)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let leapDay = isLeap && month == 2 ? 1 : 0
        let days = (month == 12 ? 365 : Self.daysBeforeMonth[month]) - Self.daysBeforeMonth[month - 1] + leapDay
        guard (1...days).contains(day) else { return nil }
        let before = year - 1
        let daysBefore = before * 365 + before / 4 - before / 100 + before / 400 + Self.daysBeforeMonth[month - 1] + (isLeap && month > 2 ? 1 : 0)
        return daysBefore + day - 1 - Self.daysTo2001
    }

    /// The seconds since midnight. A leap second, 23:59:60, is none: a date cannot hold it.
    private mutating func time() -> Int? {
        guard let hour = number(digits: 2), hour < 24, skip(":"), let minute = number(digits: 2), minute < 60, skip(":"),
            let second = number(digits: 2), second < 60
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }

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
