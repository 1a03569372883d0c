/// Brings the values of rows over to another file: a compaction's, or a salvage's.
///
/// A reference is as long as any other, so it is replaced in a copy of the row's body in place.
struct ValueCopy {
    let source: any ValueSource
    /// The row being copied, in memory that is kept for the next one.
    private var body: [UInt8] = []
    /// What was laid down for the last row.
    private(set) var values: [LargeValue] = []

    init(from source: any ValueSource) {
        self.source = source
    }

    /// Lays down the values that a row has in frames of their own, chunk by chunk.
    /// - Parameter known: by column and what the row has of its value, what a row of the new file has of the same; nil for a value
    ///   that is not there yet.
    /// - Throws: `corrupt` where a value is damaged; as writing does.
    /// - Returns: the row's body with references to the new frames; valid until the next call.
    mutating func copy(
        _ row: RowView, _ layout: RowLayout, to appender: FrameAppender,
        known: (ColumnID, UnsafeRawBufferPointer) throws(StoreError) -> [UInt8]? = { _, _ in nil }
    ) throws(StoreError) -> [UInt8] {
        body.removeAll(keepingCapacity: true)
        body.append(contentsOf: UnsafeRawBufferPointer(start: row.body, count: row.byteCount))
        values.removeAll(keepingCapacity: true)
        for position in layout.valuePositions where !row.isNull(layout.access[position]) {
            let stored = row.bytes(layout.access[position])
            guard let start = stored.baseAddress, ValueReference(stored) != nil else { continue }
            let place = start - row.body
            if let reference = try known(layout.columns[position].id, stored), reference.count == ValueReference.size {
                body.replaceSubrange(place..<place + ValueReference.size, with: reference)
                continue
            }
            let value = try copy(try ValueReader(stored, in: source), to: appender)
            body.replaceSubrange(place..<place + ValueReference.size, with: value.stored)
            values.append(value)
        }
        return body
    }

    private func copy(_ value: ValueReader, to appender: FrameAppender) throws(StoreError) -> LargeValue {
        let writer = ValueWriter(appender: appender, isInlineAllowed: false)
        for index in 0..<value.chunkCount { try writer.append(try value.chunk(index)) }
        return try writer.finish()
    }
}
