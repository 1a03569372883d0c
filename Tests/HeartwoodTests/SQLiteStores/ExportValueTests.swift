import Foundation
@testable import HeartwoodSQLite
import RecordLog
import Testing

@testable import Heartwood

@Suite struct ExportValueTests {
    @Test
    func `Dates are ISO 8601 in UTC, from the year 1 to the year 9999, and sort as text`() {
        let dates: [(Double, String)] = [
            (-63_113_904_000, "0001-01-01T00:00:00.000000Z"), (-978_307_200, "1970-01-01T00:00:00.000000Z"),
            (-0.5, "2000-12-31T23:59:59.500000Z"), (0, "2001-01-01T00:00:00.000000Z"), (0.0000004, "2001-01-01T00:00:00.000000Z"),
            (0.9999997, "2001-01-01T00:00:01.000000Z"), (86399, "2001-01-01T23:59:59.000000Z"), (86400, "2001-01-02T00:00:00.000000Z"),
            (5_097_600, "2001-03-01T00:00:00.000000Z"), (99_705_599.25, "2004-02-28T23:59:59.250000Z"),
            (99_705_600, "2004-02-29T00:00:00.000000Z"), (252_423_993_599, "9999-12-31T23:59:59.000000Z"),
        ]
        for (seconds, text) in dates { #expect(ExportDate.text(seconds) == text) }
        #expect(dates.map(\.1) == dates.map(\.1).sorted())
    }

    @Test
    func `A date outside of the calendar is the number of seconds since 1970, as in JSON Lines`() {
        for seconds in [(-63_113_904_000.0).nextDown, 252_423_993_600, 1e300, -.infinity, .infinity] {
            #expect(ExportDate.text(seconds) == "\(seconds + Date.timeIntervalBetween1970AndReferenceDate)")
        }
        #expect(ExportDate.text(.nan) == "nan")
    }

    @Test
    func `Dates agree with Foundation's`() {
        let style = Date.ISO8601FormatStyle()
        // Foundation's calendar may be the Julian one before 1582-10-15.
        for day in stride(from: -152_750, to: 2_900_000, by: 997) {
            let seconds = Double(day) * 86400 + 4321
            #expect(ExportDate.text(seconds) == Date(timeIntervalSinceReferenceDate: seconds).formatted(style).dropLast() + ".000000Z")
        }
    }

    @Test
    func `A decimal becomes the nearest double`() {
        let texts = [
            "0", "1", "-1", "0.1", "-0.1", "3.3333333333", "12345678901234567890", "0.00000000000000000000001", "9007199254740993", "1e100",
            "-1e-100", "99999999999999999999999999999999999999", "0.1234567890123456789012345678901234567", "1.7976931348623157",
            "33.333333333333336",
        ]
        for text in texts {
            let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
            #expect(decimal.map { StoredDecimal($0).nearestDouble } == Double(text), "\(text)")
        }
        #expect(StoredDecimal(Decimal.nan).nearestDouble.isNaN)
    }
}
