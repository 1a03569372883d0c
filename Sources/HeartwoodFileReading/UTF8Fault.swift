/// The first position at which bytes are not valid UTF-8.
package struct UTF8Fault: Error, Equatable {
    /// In bytes from the start.
    package let offset: Int
    package let byte: UInt8

    /// - Returns: nil if all bytes are valid UTF-8.
    package init?(in bytes: UnsafeRawBufferPointer) {
        var at = 0
        while at < bytes.count {
            guard bytes[at] >= 0x80 else {
                at += 1
                // Most text is ASCII. This loop tests eight bytes of it at a time.
                while at <= bytes.count - 8, bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 { at += 8 }
                continue
            }
            guard let length = Self.length(of: bytes, at: at) else {
                offset = at
                byte = bytes[at]
                return
            }
            at += length
        }
        return nil
    }

    /// The length in bytes of the character at `offset`; nil if no valid character starts there. Source: RFC 3629, section 4.
    private static func length(of bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        let first = bytes[offset]
        let length: Int, second: ClosedRange<UInt8>
        switch first {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard offset + length <= bytes.count, second.contains(bytes[offset + 1]) else { return nil }
        for next in offset + 2..<max(offset + length, offset + 2) where bytes[next] & 0xC0 != 0x80 { return nil }
        return length
    }

    /// The words for this fault in an error.
    package var text: String { "the byte 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true)) is not UTF-8" }
}

/// A position in a text, counted as editors count it.
package struct TextPosition: Equatable {
    /// Starts at 1.
    package let line: Int
    /// Starts at 1; counts Unicode scalars, not bytes.
    package let column: Int

    /// - Parameter offset: in bytes.
    package init(_ offset: Int, in bytes: UnsafeRawBufferPointer) {
        var line = 1, column = 1
        for byte in bytes.prefix(offset) {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.line = line
        self.column = column
    }
}
