import Testing
@testable import Heartwood
@Test func x() { #expect(1 == 1) }
