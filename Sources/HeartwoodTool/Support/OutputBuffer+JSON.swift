import Foundation
import HeartwoodFileReading

/// JSON (RFC 8259) in one line, as Foundation's encoder writes it with sorted keys and without escaped slashes, and with texts for numbers that are
/// not finite.
///
/// Foundation's encoder takes ten times the instructions: 65,700 for a line of six values from a dictionary, where this takes 6,900 (callgrind,
/// 2026-11-30). Texts of rows are written from their bytes, without a string.
extension OutputBuffer {
    func add(_ value: JSONValue) {
        switch value {
        case .text(let text): add(json: text)
        case .integer(let number): add(number)
        case .double(let number): add(json: number)
        case .bool(let flag): add(flag ? "true" : "false")
        case .list(let list):
            add("[" as Unicode.Scalar)
            for (index, member) in list.enumerated() {
                if index > 0 { add("," as Unicode.Scalar) }
                add(member)
            }
            add("]" as Unicode.Scalar)
        case .object(let members):
            add("{" as Unicode.Scalar)
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { add("," as Unicode.Scalar) }
                add(json: member.key)
                add(":" as Unicode.Scalar)
                add(member.value)
            }
            add("}" as Unicode.Scalar)
        }
    }

    func add(json number: Double) {
        guard number.isFinite else { return add(json: number.isNaN ? "nan" : number < 0 ? "-inf" : "inf") }
        // From here on Swift writes exponents.
        if abs(number) < 1e15, let whole = Int64(exactly: number), whole != 0 || number.sign == .plus { return add(whole) }
        let text = number.description
        add(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    func add(json text: String) {
        var text = text
        text.withUTF8 { add(valid: UnsafeRawBufferPointer($0)) }
    }

    /// - Parameter bytes: a text of a row. Those that are no UTF-8 become U+FFFD, as in a string.
    func add(json bytes: UnsafeRawBufferPointer) {
        if UTF8Fault(in: bytes) == nil { add(valid: bytes) } else { add(json: String(decoding: bytes, as: UTF8.self)) }
    }

    private func add(valid bytes: UnsafeRawBufferPointer) {
        add("\"" as Unicode.Scalar)
        var start = 0, index = 0
        while index < bytes.count {
            // Eight bytes at a time, as long as none needs an escape.
            if index &+ 8 <= bytes.count, !Self.hasEscape(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) {
                index &+= 8
                continue
            }
            let byte = bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                add(UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
                add(escaped: byte)
                start = index &+ 1
            }
            index &+= 1
        }
        add(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        add("\"" as Unicode.Scalar)
    }

    /// Whether one of eight bytes is a quote, a backslash or a control character. It may also say so of a byte behind one of these.
    /// Source: https://graphics.stanford.edu/~seander/bithacks.html, "Determine if a word has a byte less than n".
    @inline(__always)
    private static func hasEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101, high: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ (ones &* 0x22), backslashes = word ^ (ones &* 0x5C)
        let found = (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
        return found & high != 0
    }

    private func add(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): add("\\\"")
        case UInt8(ascii: "\\"): add("\\\\")
        case 0x08: add("\\b")
        case 0x0C: add("\\f")
        case 0x0A: add("\\n")
        case 0x0D: add("\\r")
        case 0x09: add("\\t")
        default: add(byte < 0x10 ? "\\u000" + String(byte, radix: 16) : "\\u00" + String(byte, radix: 16))
        }
    }
}
