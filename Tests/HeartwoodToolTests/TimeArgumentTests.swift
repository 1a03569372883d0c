import Testing

@testable import HeartwoodTool

/// Times of a command line.
@Suite struct TimeArgumentTests {
    /// 2026-11-26T00:00:00Z.
    private static let day: Int64 = 1_795_651_200_000_000

    private func time(_ text: String, _ day: TimeArgument.Day = .end) throws -> Int64 {
        try TimeArgument.microseconds("at", text, day: day)
    }

    @Test
    func `A day alone is the day's beginning or its end, by UTC`() throws {
        #expect(try time("2026-11-26", .beginning) == Self.day)
        #expect(try time("2026-11-26T00:00:00Z") == Self.day)
        #expect(try time("2026-11-26", .end) == Self.day + 86_400_000_000 - 1)
        #expect(try time("2026-11-26", .end) + 1 == time("2026-11-27", .beginning))
        #expect(try time("2024-02-29", .end) + 1 == time("2024-03-01", .beginning))
        #expect(try time("1969-12-31", .end) == -1 && time("1970-01-01", .beginning) == 0)
    }

    @Test(arguments: [ "2026-11-26T00:00:01Z", "2026-11-26T00:00:01.5Z", "2026-11-26T01:00:01+01:00", "1795651201", "1795651201.25", ])
    func `A time with its hour is that instant, whichever side of a day is meant`(text: String) throws {
        #expect(try time(text, .beginning) == time(text, .end))
        #expect((Self.day + 1_000_000...Self.day + 1_500_000).contains(try time(text)))
    }

    @Test(arguments: [ "", "soon", "2026-11", "2026-1-1", "2026-02-31", "2026-13-01", "2026-11-26Z", "26-11-2026", "2026/11/26", "nan", "1e300", ])
    func `What is no time is refused`(text: String) {
        #expect(throws: ToolError.self) { try time(text) }
    }
}
