import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct StoredTextTests {
    /// Every byte at every position of texts of every length around those that a string holds itself, beside a text of other scripts.
    @Test
    func `A text of stored bytes is the one that Swift decodes, of every length, with every byte anywhere`() {
        func compare(_ bytes: [UInt8]) -> Bool {
            bytes.withUnsafeBytes { Array(String(stored: $0).utf8) == Array(String(decoding: $0, as: UTF8.self).utf8) }
        }
        for count in 0...20 {
            let plain = (0..<count).map { UInt8(ascii: "a") + UInt8($0) }
            #expect(compare(plain), "\(count) letters")
            for position in 0..<count {
                for byte in UInt8.min...UInt8.max {
                    var bytes = plain
                    bytes[position] = byte
                    if !compare(bytes) { Issue.record("byte \(byte) at \(position) of \(count)") }
                }
            }
        }
        for text in ["", "ä", "ää", "日本", "e\u{301}", "😀", "😀😀😀😀", "fifteen bytes ä", "fourteen byte\u{0}", "a\u{0}b"] {
            #expect(compare(Array(text.utf8)), "\(text)")
            text.utf8.withContiguousStorageIfAvailable { #expect(String(stored: UnsafeRawBufferPointer($0)) == text) }
        }
    }
}
