/// A value to put into rows: what `Transaction.writeValue` made of it. It belongs to that transaction, and to one column of one row.
public struct LargeValue: Sendable, Hashable {
    /// As a row keeps it.
    let stored: [UInt8]
    /// The value's bytes.
    public let count: UInt64
}

/// Values of rows that no log keeps.
extension LargeValue {
    /// A value that lies in its row, whatever its length.
    package init(inRow bytes: UnsafeRawBufferPointer) {
        stored = StoredValue.encode(inline: bytes)
        count = UInt64(bytes.count)
    }

    /// The value that a row has in itself; nil where it says where the value is.
    package static func bytes(inRow stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard case .inline(let bytes)? = StoredValue(stored) else { return nil }
        return bytes
    }
}
