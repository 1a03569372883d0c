/// Reads untrusted bytes. Each read is checked; a read past the end returns nil.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var remaining: Int { bytes.count - offset }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        let size = MemoryLayout<Value>.size
        guard remaining >= size else { return nil }
        defer { offset += size }
        return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, remaining >= count else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// Reads a length as u32, then that many bytes of UTF-8.
    mutating func text() -> String? {
        guard let count = integer(UInt32.self), let bytes = take(Int(count)) else { return nil }
        // Invalid UTF-8 comes out changed. `String(validating:as:)` is generic library code, slow at its first use.
        var text = String(decoding: bytes, as: UTF8.self)
        let isSame = text.withUTF8 { KeyBytes.compare(UnsafeRawBufferPointer($0), bytes) == 0 }
        return isSame ? text : nil
    }

    /// Reads a count as u32. Each counted item takes at least `size` bytes, so a hostile count allocates nothing.
    mutating func count(of size: Int) -> Int? {
        guard let count = integer(UInt32.self), Int(count) <= remaining / max(size, 1) else { return nil }
        return Int(count)
    }
}

/// Appends integers in the file's byte order.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(text: String) {
        append(UInt32(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }
}
