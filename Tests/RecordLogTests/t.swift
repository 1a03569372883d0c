import Testing
@testable import RecordLog
@Test func x() { #expect(1 == 1) }
