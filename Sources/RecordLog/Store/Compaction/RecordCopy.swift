/// Copies a row's record from an old file to a new one, with the values that it has in frames of their own. All copies of records use this.
struct RecordCopy {
    /// The catalog as of the record.
    var catalog: Catalog {
        didSet { (table, layout) = (nil, nil) }
    }
    /// Those of the row before, which most rows share: looking them up counts references.
    private var table: TableDefinition?, layout: RowLayout?
    private let source: LogFile
    private let appender: FrameAppender
    private var values: ValueCopy

    init(from source: LogFile, _ catalog: Catalog, to appender: FrameAppender) {
        self.source = source
        self.catalog = catalog
        self.appender = appender
        values = ValueCopy(from: source)
    }

    /// - Parameters:
    ///   - version: the record's version in the new file.
    ///   - previous: the address of the row's previous record in the new file; 0 for none.
    /// - Returns: the record's address in the new file.
    @inline(__always)
    mutating func append(
        _ record: RowRecord, _ body: UnsafeRawPointer, version: UInt32, previous: UInt64
    ) throws(StoreError) -> UInt64 {
        let row = UnsafeRowView(body: body, byteCount: record.bodyLength, reference: record.reference, version: version)
        guard record.operation == .delete else { return try append(row, previous: previous, old: record.previous) }
        return try appender.appendRow(
            .delete, record.reference, body: UnsafeRawBufferPointer(start: body, count: record.bodyLength), version: version,
            previous: previous)
    }

    /// Appends an unchanged row.
    /// - Parameter old: the address of the row's previous record in the old file; 0 for none.
    @inline(__always)
    mutating func append(_ row: UnsafeRowView, previous: UInt64, old: UInt64 = 0) throws(StoreError) -> UInt64 {
        try check(row)
        if let table, table.hasValues { return try appendWithValues(row, table, previous: previous, old: old) }
        return try appender.appendRow(
            .put, row.reference, body: UnsafeRawBufferPointer(start: row.body, count: row.byteCount), version: row.version,
            previous: previous)
    }

    @inline(__always)
    private mutating func check(_ row: UnsafeRowView) throws(StoreError) {
        if table?.id != row.reference.table || layout?.id != row.layoutID {
            table = catalog.table(row.reference.table)
            layout = table?.layout(row.layoutID)
        }
        // Only the catalog knows rows of the system table, and the words for a fault.
        if let layout, RowAudit.fault(of: row, layout) == nil { return }
        if let message = catalog.fault(of: row) { throw Self.faulty(source, message) }
    }

    /// A malformed row is not copied: the new file would be no better, and the old one is needed to examine the fault.
    @inline(never)
    private static func faulty(_ source: LogFile, _ message: String) -> StoreError {
        StoreError(
            .corrupt, path: source.path, "a row is malformed though its checksum holds: \(message)",
            remedy: "The file is as it was. `heartwood salvage` brings the whole rows out to a new one; `heartwood verify` lists such rows.")
    }

    @inline(never)
    private mutating func appendWithValues(
        _ row: UnsafeRowView, _ table: TableDefinition, previous: UInt64, old address: UInt64
    ) throws(StoreError) -> UInt64 {
        guard row.byteCount >= RowLayout.nullsOffset, let layout = table.layout(row.layoutID), row.byteCount >= layout.minimumBodySize else {
            throw StoreError.corrupt(source.path, at: nil, "a row does not have the layout it names")
        }
        // A change of another column has not written the value again: the new file already has the value of the previous record.
        let old = previous == 0 ? nil : try self.row(row.reference, at: address, table)
        let appender = self.appender
        let copied = try values.copy(row, layout, to: appender) { column, stored throws(StoreError) in
            guard let old, let position = old.layout.position(of: column) else { return nil }
            let access = old.layout.access[position]
            guard !old.row.isNull(access), KeyBytes.compare(old.row.bytes(access), stored) == 0 else { return nil }
            let (known, body) = try appender.row(at: previous)
            let new = UnsafeRowView(body: body, byteCount: known.bodyLength, reference: row.reference, version: known.version)
            guard known.operation == .put, new.layoutID == old.row.layoutID, new.byteCount == old.row.byteCount else { return nil }
            return Array(new.bytes(access))
        }
        return try copied.withUnsafeBufferPointer { body throws(StoreError) in
            try appender.appendRow(
                .put, row.reference, body: UnsafeRawBufferPointer(body), version: row.version, previous: previous)
        }
    }

    /// An older record of a row in the old file; nil for a deletion.
    private func row(
        _ reference: RowReference, at address: UInt64, _ table: TableDefinition
    ) throws(StoreError) -> (row: UnsafeRowView, layout: RowLayout)? {
        guard address != 0 else { return nil }
        let (record, body) = try source.record(at: address, end: source.readableEnd)
        guard record.reference == reference, record.operation == .put else { return nil }
        let row = UnsafeRowView(body: body, byteCount: record.bodyLength, reference: reference, version: record.version)
        guard row.byteCount >= RowLayout.nullsOffset, let layout = table.layout(row.layoutID), row.byteCount >= layout.minimumBodySize
        else { return nil }
        return (row, layout)
    }
}
