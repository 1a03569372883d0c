import Foundation
import Testing
@testable import RecordLog

struct StoredUUIDTests {
    @Test
    func `has the bytes and the text of Foundation's`() throws {
        for text in [
            "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "01234567-89AB-CDEF-0123-456789ABCDEF",
            "E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
        ] {
            let theirs = try #require(UUID(uuidString: text)), ours = try #require(StoredUUID(text))
            #expect(ours.uuidString == text && "\(ours)" == text && StoredUUID(text.lowercased()) == ours)
            #expect(StoredUUID(bytes: theirs.uuid) == ours && UUID(uuid: ours.bytes) == theirs)
            #expect(StoredUUID(words: ours.words) == ours)
        }
    }

    @Test(
        arguments: [
        "", "0123456789ABCDEF0123456789ABCDEF", "01234567-89AB-CDEF-0123-456789ABCDE", "01234567-89AB-CDEF-0123-456789ABCDEFF",
        "01234567x89AB-CDEF-0123-456789ABCDEF", "0123456-789AB-CDEF-0123-456789ABCDEF", "G1234567-89AB-CDEF-0123-456789ABCDEF",
        "01234567-89AB-CDEF-0123-456789ABCDE-", "ÄÄÄÄÄÄÄÄ-89AB-CDEF-0123-456789ABCD",
    ])
    func `is not read from other text`(_ text: String) { #expect(StoredUUID(text) == nil) }

    @Test
    func `orders by its first word, then by its second`() {
        let inOrder = [(0, 0), (0, 1), (0, UInt64.max), (1, 0), (UInt64.max, 0), (.max, .max)].map { StoredUUID(words: $0) }
        for (a, first) in inOrder.enumerated() {
            for (b, second) in inOrder.enumerated() { #expect((first < second) == (a < b) && (first == second) == (a == b)) }
        }
    }
}
