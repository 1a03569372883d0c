/// A non-ASCII letter of two or three bytes of UTF-8.
struct ShortScalar {
    /// 0x80 to 0xFFFF. It may be a surrogate, which is no letter.
    let value: UInt32
    /// The number of bytes.
    let size: Int

    /// - Returns: nil for invalid UTF-8, and for a letter of another size.
    @inline(__always)
    init?(_ text: UnsafeRawBufferPointer, at offset: Int) {
        let first = text[offset]
        guard first >= 0xC2, first < 0xF0 else { return nil }
        size = first < 0xE0 ? 2 : 3
        guard offset &+ size <= text.count, text[offset &+ 1] & 0xC0 == 0x80 else { return nil }
        let start = UInt32(first & (size == 2 ? 0x1F : 0x0F)) << 6 | UInt32(text[offset &+ 1] & 0x3F)
        guard size == 3 else {
            value = start
            return
        }
        value = start << 6 | UInt32(text[offset &+ 2] & 0x3F)
        // Rejects overlong encodings.
        guard text[offset &+ 2] & 0xC0 == 0x80, value >= 0x800 else { return nil }
    }
}
