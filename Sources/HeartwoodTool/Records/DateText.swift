import Foundation

/// Dates as text: ISO 8601 in UTC and the Gregorian calendar at all times, with as many digits of a second as lead back to the same date. A date
/// outside the years 1 to 9999, or with more digits than people read, is written as seconds since 1970.
enum DateText {
    /// Seconds since 2001 of the dates from the year 1 to the year 9999.
    private static let years = -63_113_904_000.0..<252_423_993_600
    /// Seconds from 1970 to 2001.
    private static let epoch: Int64 = 978_307_200

    static func json(_ date: Date) -> JSONValue {
        let seconds = date.timeIntervalSinceReferenceDate
        let text = String(unsafeUninitializedCapacity: isoMax) { iso(seconds, into: UnsafeMutableRawPointer($0.baseAddress.unsafelyUnwrapped)) ?? 0 }
        return text.isEmpty ? secondsSince1970(date) : .text(text)
    }

    /// The most bytes of a date in ISO 8601: 19 up to the seconds, a point, 17 digits and the zone.
    static let isoMax = 38

    /// Writes a date in ISO 8601.
    /// - Parameter bytes: room for `isoMax` bytes.
    /// - Returns: the number of bytes; nil for a date without this form.
    static func iso(_ seconds: Double, into bytes: UnsafeMutableRawPointer) -> Int? {
        guard years.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down), fraction = seconds - whole
        var text = Digits(bytes: bytes)
        write(Int(whole), to: &text)
        if let count = digitCount(of: fraction, behind: whole, seconds) {
            text.put(Int((fraction * powers[count]).rounded()), count)
        } else {
            guard let digits = digits(of: fraction, behind: whole, seconds) else { return nil }
            for digit in digits.utf8 { text.put(digit) }
        }
        text.put(UInt8(ascii: "Z"))
        return text.count
    }

    private struct Digits {
        let bytes: UnsafeMutableRawPointer
        private(set) var count = 0

        init(bytes: UnsafeMutableRawPointer) { self.bytes = bytes }

        mutating func put(_ byte: UInt8) {
            bytes.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
            count += 1
        }

        mutating func put(_ number: Int, _ digits: Int) {
            var rest = number, position = count + digits
            while position > count {
                position -= 1
                bytes.storeBytes(of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: position, as: UInt8.self)
                rest /= 10
            }
            count += digits
        }
    }

    /// Writes a date up to the point behind its seconds.
    private static func write(_ second: Int, to text: inout Digits) {
        let ofDay = (second % 86400 + 86400) % 86400, date = civil(daysSince2001: (second - ofDay) / 86400)
        text.put(date.year, 4)
        text.put(UInt8(ascii: "-"))
        text.put(date.month, 2)
        text.put(UInt8(ascii: "-"))
        text.put(date.day, 2)
        text.put(UInt8(ascii: "T"))
        text.put(ofDay / 3600, 2)
        text.put(UInt8(ascii: ":"))
        text.put(ofDay / 60 % 60, 2)
        text.put(UInt8(ascii: ":"))
        text.put(ofDay % 60, 2)
        text.put(UInt8(ascii: "."))
    }

    /// The date of a day in the Gregorian calendar, which repeats itself after 146,097 days and has its leap day at the end of a year from March on.
    /// Source: https://howardhinnant.github.io/date_algorithms.html, "civil_from_days"
    private static func civil(daysSince2001 days: Int) -> (year: Int, month: Int, day: Int) {
        // The first of March of the year 0.
        let days = days + daysFromYear0
        let era = (days >= 0 ? days : days - 146_096) / 146_097, ofEra = days - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100), month = (5 * ofYear + 2) / 153
        let isNext = month >= 10
        return (yearOfEra + era * 400 + (isNext ? 1 : 0), isNext ? month - 9 : month + 3, ofYear - (153 * month + 2) / 5 + 1)
    }

    /// Days from the first of March of the year 0 to the year 2001.
    private static let daysFromYear0 = 730_791

    private static let powers = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000.0]

    /// The number of digits behind the decimal point that lead back to the date, three at least; nil where more than six are needed. A date further
    /// than 2^32 seconds from 2001 is too coarse for one to be right that was found without its text.
    private static func digitCount(of fraction: Double, behind whole: Double, _ seconds: Double) -> Int? {
        guard abs(seconds) < 0x1p32 else { return nil }
        return (3...6).first { count in
            let number = (fraction * powers[count]).rounded()
            return number < powers[count] && whole + number / powers[count] == seconds
        }
    }

    /// The digits behind the decimal point, three at least.
    private static func digits(of fraction: Double, behind whole: Double, _ seconds: Double) -> String? {
        for count in 3...17 {
            let text = String(format: "%.\(count)f", fraction)
            if text.hasPrefix("0."), let read = Double(text), whole + read == seconds { return String(text.dropFirst(2)) }
        }
        return nil
    }

    /// A number if one leads back to the same date, else a text of all its digits. Dates have a double of seconds since 2001, and the seconds since
    /// 1970 may not fit in a double.
    static func secondsSince1970(_ date: Date) -> JSONValue {
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

    /// - Parameter text: a time or a day (`ISO8601Text`), which is its beginning, or seconds since 1970.
    static func date(_ text: String) -> Date? {
        ISO8601Text(text).map { Date(timeIntervalSinceReferenceDate: $0.start) } ?? date(seconds: text)
    }
}
