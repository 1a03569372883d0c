/// Writes the first commit of a compacted file: every live row of a snapshot, in table and row order, the catalog first.
struct CompactionBase {
    let base: Snapshot
    let target: CompactionTarget
    let timestamp: Int64
    /// Replacement values for rows of the system table, by row number.
    var systemValues: [UInt64: [UInt8]] = [:]
    /// Called every few thousand rows with the number of rows done.
    let report: (UInt64) throws(StoreError) -> Void

    private static let progressEvery: UInt64 = 4096

    func write() throws(StoreError) {
        target.appender.beginCommit(base.sequence)
        let rows = try copyRows()
        let frame = try target.appender.appendFooter(
            CommitFooter(
                sequence: base.sequence, previousChecksum: 0, timestamp: timestamp, durableSequence: 0, rowCount: rows.count,
                authorLength: 0),
            author: [])
        try target.appender.flush()
        target.begin(Snapshot(
            sequence: base.sequence, catalog: base.catalog, file: target.file, end: target.appender.position,
            commitChecksum: frame.checksum, tables: rows.tables, indexes: [], counters: target.snapshot.counters))
    }

    private func copyRows() throws(StoreError) -> (tables: [TableState?], count: UInt32) {
        let appender = target.appender
        var records = RecordCopy(from: base.file, base.catalog, to: appender)
        var done: UInt64 = 0
        var tables: [TableState?] = []
        for (index, state) in base.tables.enumerated() {
            tables.append(nil)
            guard let state else { continue }
            let isSystem = index == 0
            let delta = PrimaryDelta()
            var bytes: UInt64 = 0, count: UInt64 = 0
            try base.scanRows(TableID(rawValue: UInt16(index))) { row throws(StoreError) in
                count += 1
                guard !isSystem || row.reference.row != RowNumbers.row else { return true }
                if isSystem, row.reference.row == Catalog.row {
                    delta.store(Catalog.row, try records.append(row.with(version: row.version > 1 ? row.version - 1 : 1), previous: 0))
                    bytes += base.catalog.liveBytes(of: row)
                } else if isSystem, let value = systemValues[row.reference.row] {
                    let address = try append(value, as: row)
                    delta.store(row.reference.row, address)
                    bytes += UInt64(RowRecord.size(ofBody: value.count))
                } else {
                    delta.store(row.reference.row, try records.append(row, previous: 0))
                    bytes += base.catalog.liveBytes(of: row)
                }
                done += 1
                if done % Self.progressEvery == 0 { try report(done) }
                return true
            }
            // The pages of the base lack rows, or list some twice. The log, which could correct them, is not read here.
            guard count == state.rowCount else {
                throw StoreError.corrupt(
                    base.file.path, at: nil, "table \(base.catalog.table(TableID(rawValue: UInt16(index)))?.name ?? "\(index)") has \(count) rows, "
                        + "and its checkpoint says \(state.rowCount)")
            }
            var rowCount = state.rowCount
            if isSystem {
                let numbers = try appendRowNumbers()
                delta.store(RowNumbers.row, numbers.address)
                bytes += numbers.size
                done += 1
                if try !base.contains(RowReference(table: .system, row: RowNumbers.row)) { rowCount += 1 }
                // A frame of its own, so that damage to rows does not take the catalog with it.
                try appender.closeRows()
            }
            tables[index] = TableState(
                primary: PrimaryIndex(base: nil, delta: delta), nextRow: state.nextRow, rowCount: rowCount, liveBytes: bytes)
        }
        if try repeatCatalog(tables.first ?? nil) { done += 1 }
        guard done <= UInt64(UInt32.max) else {
            throw StoreError(
                .tooLarge, path: base.file.path, "\(done) rows are more than one commit holds",
                remedy: "Split the data over several stores.")
        }
        return (tables, UInt32(done))
    }

    private func append(_ value: [UInt8], as row: UnsafeRowView) throws(StoreError) -> UInt64 {
        try value.withUnsafeBufferPointer { bytes throws(StoreError) in
            try target.appender.appendRow(
                .put, row.reference, body: UnsafeRawBufferPointer(bytes), version: row.version, previous: 0)
        }
    }

    /// Writes the catalog again behind the rows: no row can be read without it, and the file has no older copy. The second record keeps the
    /// catalog's version, if it is not the first one's, so that a compaction of a compacted file makes the same records.
    private func repeatCatalog(_ system: TableState?) throws(StoreError) -> Bool {
        let reference = RowReference(table: .system, row: Catalog.row)
        guard let delta = system?.primary.delta, let row = try base.unsafeRow(reference) else { return false }
        let again = row.with(version: max(2, row.version))
        var records = RecordCopy(from: base.file, base.catalog, to: target.appender)
        let address = try records.append(again, previous: delta.load(Catalog.row))
        delta.store(Catalog.row, address)
        return true
    }

    private func appendRowNumbers() throws(StoreError) -> (address: UInt64, size: UInt64) {
        let numbers = RowNumbers(next: base.tables.enumerated().dropFirst().compactMap { index, state in
            state.map { (TableID(rawValue: UInt16(index)), $0.nextRow) }
        })
        guard numbers.areBelieved else {
            throw StoreError(
                .tooLarge, path: base.file.path, "more than \(RowNumbers.sumMax) row numbers have been given, and a new file cannot say so",
                remedy: "The store is as it was. Bring its rows to a new one, which numbers them anew.")
        }
        let bytes = numbers.encoded()
        let address = try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
            try target.appender.appendRow(
                .put, RowReference(table: .system, row: RowNumbers.row), body: UnsafeRawBufferPointer(bytes), version: 1, previous: 0)
        }
        return (address, UInt64(RowRecord.size(ofBody: bytes.count)))
    }
}

extension UnsafeRowView {
    fileprivate func with(version: UInt32) -> UnsafeRowView {
        UnsafeRowView(body: body, byteCount: byteCount, reference: reference, version: version)
    }
}
