/// Times as HTTP headers and signatures write them, in seconds since 1970. Foundation's formatters would bring all locales into a static program.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The seconds of a `Date` header such as `Sun, 06 Nov 1994 08:49:37 GMT`; nil for any other text. Spec: RFC 9110, section 5.6.7.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(whereSeparator: { $0 == " " || $0 == ":" || $0 == "," })
        guard parts.count == 8, parts[7] == "GMT", let month = months.firstIndex(of: String(parts[2])) else { return nil }
        let numbers = [1, 3, 4, 5, 6].compactMap { Int64(parts[$0]) }
        guard numbers.count == 5, (1...31).contains(numbers[0]), (1970...9999).contains(numbers[1]) else { return nil }
        guard (0...23).contains(numbers[2]), (0...59).contains(numbers[3]), (0...60).contains(numbers[4]) else { return nil }
        let days = dayNumber(year: numbers[1], month: Int64(month) + 1, day: numbers[0])
        return ((days * 24 + numbers[2]) * 60 + numbers[3]) * 60 + numbers[4]
    }

    /// `20130524T000000Z`; its first eight characters are the day.
    static func stamp(_ seconds: Int64) -> String {
        let (year, month, day) = date(ofDay: floorDivided(seconds, by: 86400))
        let time = seconds - floorDivided(seconds, by: 86400) * 86400
        return digits(year, 4) + digits(month, 2) + digits(day, 2) + "T" + digits(time / 3600, 2) + digits(time / 60 % 60, 2)
            + digits(time % 60, 2) + "Z"
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    private static func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
    }

    /// Days since 1970-01-01 in the Gregorian calendar, by years that begin in March.
    private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floorDivided(year, by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468
    }

    private static func date(ofDay number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let number = number + 719468
        let era = floorDivided(number, by: 146097)
        let dayOfEra = number - era * 146097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
