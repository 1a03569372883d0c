/// Text of ASCII alone, eight bytes at a time.
enum ASCIIText {
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Calls `body` with the text, in lowercase where that is asked for.
    /// - Returns: nil where there is more than ASCII.
    @inline(__always)
    static func withLowered<Result>(
        _ text: UnsafeRawBufferPointer, isLowered: Bool, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        guard isLowered else { return isASCII(text) ? try body(text) : nil }
        return try withUnsafeTemporaryAllocation(byteCount: text.count &+ 8, alignment: 8) { buffer in
            try lower(text, into: buffer) ? body(UnsafeRawBufferPointer(rebasing: buffer[..<text.count])) : nil
        }
    }

    private static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        while at &+ 8 <= text.count {
            if text.loadUnaligned(fromByteOffset: at, as: UInt64.self) & highBits != 0 { return false }
            at &+= 8
        }
        while at < text.count {
            if text[at] >= 0x80 { return false }
            at &+= 1
        }
        return true
    }

    /// - Parameter buffer: of eight bytes more than the text.
    private static func lower(_ text: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        let count = text.count
        guard count >= 8 else {
            var word: UInt64 = 0
            for index in 0..<count { word |= UInt64(text[index]) << UInt64(index &* 8) }
            guard let made = lowered(word) else { return false }
            buffer.storeBytes(of: made.littleEndian, as: UInt64.self)
            return true
        }
        var at = 0
        while at < count {
            // The last eight bytes are partly done already.
            let index = min(at, count &- 8)
            guard let made = lowered(text.loadUnaligned(fromByteOffset: index, as: UInt64.self)) else { return false }
            buffer.storeBytes(of: made, toByteOffset: index, as: UInt64.self)
            at &+= 8
        }
        return true
    }

    /// Eight letters in lowercase; nil where there is more than ASCII.
    @inline(__always)
    static func lowered(_ word: UInt64) -> UInt64? {
        guard word & highBits == 0 else { return nil }
        // The high bit of a byte: set by the first sum from "A" on, by the second behind "Z".
        let isUpper = (word &+ 0x3F3F_3F3F_3F3F_3F3F) & ~(word &+ 0x2525_2525_2525_2525) & highBits
        return word | isUpper >> 2
    }

    /// Letters from the most frequent on; what is not among them is rarer.
    private static let frequent = Array(" etaoinsrhldcumfpgwybvk".utf8)

    /// The place of the byte of a pattern that texts have least often.
    static func rarest(_ pattern: UnsafeRawBufferPointer) -> Int {
        func rank(_ byte: UInt8) -> Int {
            // The first bytes of other scripts' letters repeat in each of them; the later ones tell more.
            if byte >= 0xC0 { return 1 }
            return frequent.firstIndex(of: byte | (byte >= 0x41 && byte <= 0x5A ? 0x20 : 0)) ?? frequent.count
        }
        return pattern.indices.max { rank(pattern[$0]) < rank(pattern[$1]) } ?? 0
    }
}
