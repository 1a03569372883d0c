/// Splits an index entry's bytes: the key, then six bytes of row number.
enum IndexEntry {
    /// In the place of a row number: there is none.
    static let noRow = UInt64.max

    /// An entry without its last six bytes.
    @inline(__always)
    static func key(of entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: entry.baseAddress, count: max(0, entry.count &- KeyBuilder.rowSuffixSize))
    }

    /// The last six bytes of an entry; 0, which is no row, if there are fewer.
    @inline(__always)
    static func row(of entry: UnsafeRawBufferPointer) -> UInt64 {
        guard entry.count >= KeyBuilder.rowSuffixSize else { return 0 }
        let at = entry.count &- KeyBuilder.rowSuffixSize
        let high = UInt16(bigEndian: entry.loadUnaligned(fromByteOffset: at, as: UInt16.self))
        let low = UInt32(bigEndian: entry.loadUnaligned(fromByteOffset: at &+ 2, as: UInt32.self))
        return UInt64(high) << 32 | UInt64(low)
    }
}
