/// The positions of a table's or an index's columns in its records.
final class RecordShape {
    struct Column {
        /// The position in the record; -1 for a column that is not stored.
        var field: Int
        /// An integer in the record stands for a real number.
        var isReal = false
        /// The column is another name of the rowid.
        var isRowid = false
    }

    let columns: UnsafeMutableBufferPointer<Column>
    /// The values in records that are too short to have the column; nil if only SQLite can compute one.
    let missing: [SQLiteValue?]
    /// The bytes of those values that are texts or blobs.
    let missingBytes: [UnsafeRawBufferPointer?]
    /// The most fields that a record is read for.
    let fieldCount: Int
    let encoding: DatabaseHeader.TextEncoding

    init(columns: [Column], missing: [SQLiteValue?], encoding: DatabaseHeader.TextEncoding) {
        precondition(columns.count == missing.count, "every column has an entry")
        self.columns = .allocate(capacity: columns.count)
        _ = self.columns.initialize(from: columns)
        self.missing = missing
        missingBytes = missing.map(Self.bytes)
        self.encoding = encoding
        fieldCount = (columns.map(\.field).max() ?? -1) + 1
    }

    deinit {
        columns.deallocate()
        for bytes in missingBytes { bytes?.deallocate() }
    }

    private static func bytes(_ value: SQLiteValue?) -> UnsafeRawBufferPointer? {
        let copied: [UInt8]
        switch value {
        case .text(let bytes), .blob(let bytes): copied = bytes
        default: return nil
        }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, copied.count), alignment: 1)
        memory.copyBytes(from: copied)
        return UnsafeRawBufferPointer(start: memory.baseAddress, count: copied.count)
    }
}
