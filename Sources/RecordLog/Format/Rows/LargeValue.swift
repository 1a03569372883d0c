/// A value that `Transaction.writeValue` made. It belongs to that transaction, and to one column of one row.
public struct LargeValue: Sendable, Hashable {
    /// The bytes that the row stores.
    let stored: [UInt8]
    /// The value's bytes.
    public let count: UInt64
}

/// Values of rows that are in no log.
extension LargeValue {
    /// A value that its row stores, at any length.
    package init(inRow bytes: UnsafeRawBufferPointer) {
        stored = StoredValue.encode(inline: bytes)
        count = UInt64(bytes.count)
    }

    /// The value that a row stores; nil if the row has a reference to it.
    package static func bytes(inRow stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard case .inline(let bytes)? = StoredValue(stored) else { return nil }
        return bytes
    }
}
