/// Copies the values of rows to another file, for a compaction or a salvage.
///
/// All references have one length, so a reference is replaced in place in a copy of the row's body.
struct ValueCopy {
    let source: any ValueSource
    /// The row being copied, in memory that is reused for the next one.
    private var body: [UInt8] = []
    /// The values written for the last row.
    private(set) var values: [LargeValue] = []

    init(from source: any ValueSource) {
        self.source = source
    }

    /// Copies the values that a row has in frames of their own, chunk by chunk.
    /// - Parameter known: gets a column and the stored bytes of its value. Returns the stored bytes of the same value in the new file, or nil
    ///   if the new file does not have it yet.
    /// - Throws: `corrupt` if a value is damaged; as writing does.
    /// - Returns: the row's body with references to the new frames; valid until the next call.
    mutating func copy(
        _ row: UnsafeRowView, _ layout: RowLayout, to appender: FrameAppender,
        known: (ColumnID, UnsafeRawBufferPointer) throws(StoreError) -> [UInt8]? = { _, _ in nil }
    ) throws(StoreError) -> [UInt8] {
        body.removeAll(keepingCapacity: true)
        body.append(contentsOf: UnsafeRawBufferPointer(start: row.body, count: row.byteCount))
        values.removeAll(keepingCapacity: true)
        for position in layout.valuePositions where !row.isNull(layout.access[position]) {
            let stored = row.bytes(layout.access[position])
            guard let start = stored.baseAddress, ValueReference(stored) != nil else { continue }
            let offset = start - row.body
            if let reference = try known(layout.columns[position].id, stored), reference.count == ValueReference.size {
                body.replaceSubrange(offset..<offset + ValueReference.size, with: reference)
                continue
            }
            let value = try copy(try ValueReader(stored, in: source), to: appender)
            body.replaceSubrange(offset..<offset + ValueReference.size, with: value.stored)
            values.append(value)
        }
        return body
    }

    private func copy(_ value: ValueReader, to appender: FrameAppender) throws(StoreError) -> LargeValue {
        let writer = ValueWriter(appender: appender, isInlineAllowed: false)
        for index in 0..<value.chunkCount { try writer.append(try value.unsafeChunk(index)) }
        return try writer.finish()
    }
}
