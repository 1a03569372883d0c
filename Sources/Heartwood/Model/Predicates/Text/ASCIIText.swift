/// Operations on the ASCII of texts, eight bytes at a time.
enum ASCIIText {
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Calls `body` with the text, in lowercase if `isLowered`.
    /// - Returns: nil if the text has bytes beyond ASCII.
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

    /// - Parameter buffer: eight bytes longer than the text.
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
            // The last eight bytes may overlap those that are already done.
            let index = min(at, count &- 8)
            guard let made = lowered(text.loadUnaligned(fromByteOffset: index, as: UInt64.self)) else { return false }
            buffer.storeBytes(of: made, toByteOffset: index, as: UInt64.self)
            at &+= 8
        }
        return true
    }

    /// Eight bytes in lowercase; nil if one is beyond ASCII.
    @inline(__always)
    static func lowered(_ word: UInt64) -> UInt64? {
        word & highBits == 0 ? loweredStart(word) : nil
    }

    /// Eight bytes of which those before the first one beyond ASCII, from the lowest on, are in lowercase; the others are undefined.
    @inline(__always)
    static func loweredStart(_ word: UInt64) -> UInt64 {
        // The high bit of a byte: the first sum sets it from "A" on, the second behind "Z".
        let isUpper = (word &+ 0x3F3F_3F3F_3F3F_3F3F) & ~(word &+ 0x2525_2525_2525_2525) & highBits
        return word | isUpper >> 2
    }

    /// The bytes of a text from `offset` on, at most eight, the first one lowest, then zeroes; nil for the rest of a text of less than eight bytes.
    @inline(__always)
    static func word(_ text: UnsafeRawBufferPointer, at offset: Int) -> UInt64? {
        let left = text.count &- offset
        if left >= 8 { return UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        guard text.count >= 8 else { return nil }
        return UInt64(littleEndian: text.loadUnaligned(fromByteOffset: text.count &- 8, as: UInt64.self)) &>> UInt64((8 &- left) &* 8)
    }

    /// The high bit of each byte that is zero. Above the lowest of these bits, that of another byte may be set too.
    @inline(__always)
    static func zeroes(_ word: UInt64) -> UInt64 { (word &- 0x0101_0101_0101_0101) & ~word & highBits }

    /// The bit that tells a lowercase letter from the same one in uppercase; 0 for another byte.
    @inline(__always)
    static func caseBit(_ byte: UInt8) -> UInt8 { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? 0x20 : 0 }

    /// By byte: 0 for the most frequent one in texts, and more for rarer ones.
    private static let ranks: [UInt8] = {
        let frequent = Array(" etaoinsrhldcumfpgwybvk".utf8)
        return (0...UInt8.max).map { byte in
            // The lead bytes of other scripts' letters repeat in each letter, so the continuation bytes are more selective.
            if byte >= 0xC0 { return 1 }
            return UInt8(frequent.firstIndex(of: byte | (byte >= 0x41 && byte <= 0x5A ? 0x20 : 0)) ?? frequent.count)
        }
    }()
    private static let rankMax = ranks.max() ?? 0

    /// The index of the pattern's byte that is rarest in texts, the first of several.
    static func rarest(_ pattern: UnsafeRawBufferPointer) -> Int {
        let ranks = ranks, rankMax = rankMax
        var found = 0, rank: UInt8 = 0
        for index in 0..<pattern.count where ranks[Int(pattern[index])] > rank {
            (found, rank) = (index, ranks[Int(pattern[index])])
            if rank == rankMax { break }
        }
        return found
    }
}
