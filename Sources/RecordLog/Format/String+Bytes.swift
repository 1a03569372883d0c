extension String {
    /// Makes a text of a row's bytes. Those that are no UTF-8 become U+FFFD, as by `String(decoding:as:)`.
    ///
    /// Swift keeps up to 15 bytes in the string itself. It puts them there one by one when it decodes, and at once when it has memory filled, which
    /// takes two thirds of the instructions for short ASCII texts, and more for others.
    @inline(__always)
    package init(stored bytes: UnsafeRawBufferPointer) {
        guard bytes.count < 16, Self.areASCII(bytes) else {
            self.init(decoding: bytes, as: UTF8.self)
            return
        }
        self.init(unsafeUninitializedCapacity: bytes.count) { text in
            UnsafeMutableRawBufferPointer(text).copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// - Precondition: fewer than 16 bytes.
    @inline(__always)
    private static func areASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        if count >= 8 {
            let first = bytes.loadUnaligned(as: UInt64.self), last = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            return (first | last) & 0x8080_8080_8080_8080 == 0
        }
        if count >= 4 {
            let first = bytes.loadUnaligned(as: UInt32.self), last = bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            return (first | last) & 0x8080_8080 == 0
        }
        return bytes.allSatisfy { $0 < 0x80 }
    }
}
