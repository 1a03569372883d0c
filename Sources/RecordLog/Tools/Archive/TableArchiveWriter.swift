/// Writes the state that a transaction would leave.
package struct TableArchiveWriter {
    private let transaction: Transaction
    private let writer: ArchiveWriter
    /// By table ID: the table's position in the archive, from 1; 0 for none.
    private var positions: [UInt64] = []

    /// Writes all tables and system values as they are once `transaction` is committed.
    /// - Complexity: O(bytes).
    package static func write(_ transaction: Transaction, to writer: ArchiveWriter) throws {
        var archive = TableArchiveWriter(transaction: transaction, writer: writer)
        try archive.writeSystemValues()
        let tables = transaction.catalog.tables
        for (index, table) in tables.enumerated() {
            while archive.positions.count <= Int(table.id.rawValue) { archive.positions.append(0) }
            archive.positions[Int(table.id.rawValue)] = UInt64(index) + 1
        }
        try writer.append(UInt32(tables.count))
        for table in tables { try archive.write(table) }
    }

    private init(transaction: Transaction, writer: ArchiveWriter) {
        self.transaction = transaction
        self.writer = writer
    }

    private func writeSystemValues() throws {
        try transaction.forEachRow(of: .system) { row in
            guard Transaction.systemRows.contains(row.reference.row) else { return }
            try writer.append(UInt16(row.reference.row))
            try writer.append(UInt32(row.byteCount))
            try writer.append(UnsafeRawBufferPointer(start: row.body, count: row.byteCount))
        }
        try writer.append(UInt16(0))
    }

    private func write(_ table: TableDefinition) throws {
        let next = transaction.nextRow(table.id)
        guard next <= TableArchive.rowsMax else {
            throw StoreError(
                .tooLarge, path: transaction.base.file.path,
                "the table \(table.name) has given out more than \(TableArchive.rowsMax) row numbers",
                remedy: "Use a record log for so much.")
        }
        try writer.append(bytes: TableArchive.Heading(table, nextRow: next).encoded)
        let layout = table.currentLayout, newest = Array(layout.access)
        try transaction.forEachRow(of: table.id) { row in
            try writer.append(row.reference.row)
            try write(row, layout, accesses: row.layoutID == layout.id ? newest : Self.accesses(row, table, layout))
        }
        // Ends the rows: no row has this number.
        try writer.append(UInt64(0))
    }

    /// The accesses by which a row of an older layout has the columns of the newest.
    private static func accesses(_ row: UnsafeRowView, _ table: TableDefinition, _ layout: RowLayout) -> [ColumnAccess] {
        guard let old = table.layout(row.layoutID) else { return Array(layout.access) }
        return layout.columns.indices.map { position in
            let access = old.access(of: layout.columns[position].id)
            return access.isAbsent || access.type == layout.columns[position].type ? access : .absent
        }
    }

    private func write(_ row: UnsafeRowView, _ layout: RowLayout, accesses: [ColumnAccess]) throws {
        var row = row
        var nulls = [UInt8](repeating: 0, count: TableArchive.nullBytes(accesses.count))
        for (position, access) in accesses.enumerated() where access.isAbsent || row.isNull(access) {
            nulls[position / 8] |= 1 << UInt8(position % 8)
        }
        try writer.append(bytes: nulls)
        for access in accesses where !access.isAbsent && !row.isNull(access) {
            switch access.type {
            case .reference:
                let reference = row.reference(access)
                let table = Int(reference.table.rawValue)
                let position = table < positions.count ? positions[table] : 0
                try writer.append(position == 0 || reference.row == 0 ? UInt64(0) : position << 48 | reference.row)
            case .text, .bytes:
                let bytes = row.bytes(access)
                try writer.append(UInt32(bytes.count))
                try writer.append(bytes)
            case .value:
                guard let value = try transaction.value(access, of: row) else { continue }
                try writer.append(UInt64(value.count))
                try value.forEachChunk { chunk in
                    try writer.append(chunk)
                    return true
                }
                // Reading a value of this transaction may have moved its rows.
                row = try transaction.unsafeRow(row.reference) ?? row
            default:
                try writer.append(UnsafeRawBufferPointer(start: row.slot(access), count: access.type.slotSize ?? 0))
            }
        }
    }
}

extension Transaction {
    /// The number that the table's next row gets.
    package func nextRow(_ table: TableID) -> UInt64 {
        changesSoFar(table)?.nextRow ?? max(1, base.rowLimit(table))
    }

    /// Skips row numbers up to `next`, for rows that come from elsewhere and keep their numbers; `put` takes them.
    ///
    /// A log cannot be replayed over such a commit, since a replay bounds row numbers by the row count. So this is only for logs in memory,
    /// where an open store is never replayed. A compaction that meets such a commit begins again later.
    package func skipRows(to next: UInt64, in table: TableID) throws(StoreError) {
        guard next > nextRow(table) else { return }
        try changes(table).skip(to: next)
    }

    /// Calls `body` with each row of a table as this transaction leaves it, in row order. `body` may read rows and must not write any.
    func forEachRow(of table: TableID, _ body: (UnsafeRowView) throws -> Void) throws {
        let changes = changesSoFar(table), pending = changes?.changedRows ?? []
        var next = 0
        func visit(_ number: UInt64) throws {
            if let row = try unsafeRow(RowReference(table: table, row: number)) { try body(row) }
        }
        var scan = RowScan(base, table, from: 1)
        while let row = try scan.next() {
            while next < pending.count, pending[next] < row.reference.row {
                try visit(pending[next])
                next += 1
            }
            if next < pending.count, pending[next] == row.reference.row {
                try visit(pending[next])
                next += 1
            } else {
                try body(row)
            }
        }
        for number in pending[next...] { try visit(number) }
        guard let changes else { return }
        for number in changes.firstNew..<changes.nextRow { try visit(number) }
    }
}
