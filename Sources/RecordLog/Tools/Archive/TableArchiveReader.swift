/// Reads archives that `TableArchiveWriter` wrote. The bytes are untrusted.
package struct TableArchiveReader {
    private let bytes: [UInt8]
    private let path: String
    /// The system values, by number.
    package let systemValues: [UInt64: [UInt8]]
    /// The offset of the tables.
    private let tablesOffset: Int

    /// - Parameter bytes: an archive's payload.
    /// - Throws: `corrupt` if the system values are malformed. `apply` checks the tables.
    package init(_ bytes: [UInt8], path: String) throws(StoreError) {
        self.bytes = bytes
        self.path = path
        (systemValues, tablesOffset) = try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
            var reader = ByteReader(UnsafeRawBufferPointer(bytes))
            var values: [UInt64: [UInt8]] = [:]
            while true {
                guard let number = reader.integer(UInt16.self) else { throw Self.malformed(path, reader) }
                if number == 0 { return (values, reader.offset) }
                guard Transaction.systemRows.contains(UInt64(number)), values[UInt64(number)] == nil,
                    let count = reader.integer(UInt32.self), let value = reader.take(Int(count))
                else { throw Self.malformed(path, reader) }
                values[UInt64(number)] = Array(value)
            }
        }
    }

    private static func malformed(
        _ path: String, _ reader: ByteReader, _ message: String = "the archive's contents are malformed"
    ) -> StoreError {
        ArchiveFormat.corrupt(path, at: nil, "\(message), at byte \(reader.offset) of its blocks' contents")
    }

    /// Makes the content of a transaction's store equal to the archive's. Puts rows that differ and deletes rows that the archive does not
    /// have. Writes nothing for an unchanged row.
    /// - Throws: `corrupt`; `schema` if the store does not have a table or column; the errors of `put`.
    /// - Complexity: O(bytes).
    package func apply(to transaction: Transaction) throws {
        for (number, value) in systemValues { try Self.set(number, value, transaction) }
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard reader.take(tablesOffset) != nil, let count = reader.count(of: 16) else { throw Self.malformed(path, reader) }
            // References name tables that may come later.
            var tables: [TableDefinition] = []
            var ahead = reader
            for _ in 0..<count {
                let heading = try heading(&ahead)
                guard let table = transaction.catalog.table(named: heading.name) else {
                    throw schema("the archive has a table \(heading.name), which the model does not")
                }
                guard !tables.contains(where: { $0 === table }) else { throw Self.malformed(path, ahead, "the archive has a table twice") }
                tables.append(table)
                try skipRows(&ahead, heading)
            }
            guard ahead.remaining == 0 else { throw Self.malformed(path, ahead, "the archive goes on behind its end") }
            for index in tables.indices {
                let heading = try heading(&reader)
                let rows = try ArchivedRows(heading, tables[index], tables)
                try transaction.skipRows(to: heading.nextRow, in: tables[index].id)
                try read(rows, &reader, into: transaction)
            }
        }
    }

    /// Writes the same archive with other system values.
    /// - Parameter values: new values by number. Other values stay.
    package func copy(to writer: ArchiveWriter, replacing values: [UInt64: [UInt8]]) throws {
        for (number, value) in systemValues.merging(values, uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
            try writer.append(UInt16(number))
            try writer.append(UInt32(value.count))
            try writer.append(bytes: value)
        }
        try writer.append(UInt16(0))
        try writer.append(bytes: Array(bytes[tablesOffset...]))
    }

    private static func set(_ number: UInt64, _ value: [UInt8], _ transaction: Transaction) throws(StoreError) {
        let old = try transaction.unsafeRow(RowReference(table: .system, row: number))
        let isSame = old.map { old in
            value.withUnsafeBytes { KeyBytes.compare($0, UnsafeRawBufferPointer(start: old.body, count: old.byteCount)) == 0 }
        }
        if isSame == true { return }
        try transaction.setSystemValue(number, value)
    }

    private func heading(_ reader: inout ByteReader) throws(StoreError) -> TableArchive.Heading {
        guard let heading = TableArchive.Heading(&reader) else { throw Self.malformed(path, reader) }
        return heading
    }

    private func schema(_ message: String) -> StoreError {
        StoreError(.schema, path: path, message, remedy: "Open the archive with the model it was made with.")
    }

    private func number(_ reader: inout ByteReader, after last: UInt64, below next: UInt64) throws(StoreError) -> UInt64? {
        guard let number = reader.integer(UInt64.self) else { throw Self.malformed(path, reader) }
        if number == 0 { return nil }
        guard number > last, number < next else { throw Self.malformed(path, reader, "the archive's rows are out of order") }
        return number
    }

    /// Skips a table's rows, and checks how they are framed.
    private func skipRows(_ reader: inout ByteReader, _ heading: TableArchive.Heading) throws(StoreError) {
        var last: UInt64 = 0
        while let number = try number(&reader, after: last, below: heading.nextRow) {
            last = number
            guard let nulls = reader.take(TableArchive.nullBytes(heading.columns.count)) else { throw Self.malformed(path, reader) }
            for (position, column) in heading.columns.enumerated() where nulls[position / 8] & 1 << UInt8(position % 8) == 0 {
                guard ArchivedRows.take(column.type, &reader) != nil else { throw Self.malformed(path, reader) }
            }
        }
    }

    private func read(_ rows: ArchivedRows, _ reader: inout ByteReader, into transaction: Transaction) throws {
        var last: UInt64 = 0
        var gone = RowScan(transaction.base, rows.table.id, from: 1)
        var next = try gone.next()
        func deleteGone(before number: UInt64) throws {
            while let row = next, row.reference.row <= number {
                if row.reference.row < number { _ = try transaction.delete(row.reference) }
                next = try gone.next()
            }
        }
        while let number = try number(&reader, after: last, below: rows.nextRow) {
            last = number
            try deleteGone(before: number)
            guard try rows.put(number, &reader, transaction) else { throw Self.malformed(path, reader) }
        }
        try deleteGone(before: .max)
        if last + 1 < rows.nextRow, transaction.base.rowLimit(rows.table.id) < rows.nextRow { try rows.takeLastNumber(transaction) }
    }
}

/// The rows of one archived table, while they are put into a store.
private struct ArchivedRows {
    let table: TableDefinition
    let nextRow: UInt64
    private let columns: [(type: ColumnType, position: Int)]
    /// By position in the archive.
    private let tables: [TableDefinition]
    private let builder = RowBuilder()

    /// - Throws: `schema` if the table does not have a column.
    init(_ heading: TableArchive.Heading, _ table: TableDefinition, _ tables: [TableDefinition]) throws(StoreError) {
        self.table = table
        self.tables = tables
        nextRow = heading.nextRow
        var columns: [(ColumnType, Int)] = []
        for column in heading.columns {
            guard let position = table.currentLayout.columns.firstIndex(where: { $0.name == column.name && $0.type == column.type }),
                !columns.contains(where: { $0.1 == position })
            else {
                throw StoreError(
                    .schema, path: heading.name, "the archive has a column \(heading.name).\(column.name) that the model does not have so",
                    remedy: "Open the archive with the model it was made with.")
            }
            columns.append((column.type, position))
        }
        self.columns = columns
    }

    /// The bytes of one value; nil if it is incomplete.
    static func take(_ type: ColumnType, _ reader: inout ByteReader) -> UnsafeRawBufferPointer? {
        switch type {
        case .text, .bytes: reader.integer(UInt32.self).flatMap { reader.take(Int($0)) }
        case .value: reader.integer(UInt64.self).flatMap { Int(exactly: $0) }.flatMap { reader.take($0) }
        default: reader.take(type.slotSize ?? 0)
        }
    }

    /// - Returns: false if the bytes are not a row.
    func put(_ number: UInt64, _ reader: inout ByteReader, _ transaction: Transaction) throws -> Bool {
        let layout = table.currentLayout
        let reference = RowReference(table: table.id, row: number)
        guard let nulls = reader.take(TableArchive.nullBytes(columns.count)) else { return false }
        let old = try transaction.unsafeRow(reference)
        builder.begin(layout)
        for (index, column) in columns.enumerated() where nulls[index / 8] & 1 << UInt8(index % 8) == 0 {
            guard let bytes = Self.take(column.type, &reader) else { return false }
            switch column.type {
            case .reference:
                let stored = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
                if stored == 0 { continue }
                let row = stored & RowReference.rowMask, other = Int(stored >> 48) - 1
                guard row > 0, tables.indices.contains(other) else { return false }
                builder.set(column.position, reference: RowReference(table: tables[other].id, row: row))
            case .text:
                guard Self.isText(bytes) else { return false }
                builder.set(column.position, bytes: bytes)
            case .bytes: builder.set(column.position, bytes: bytes)
            case .value:
                if let old, try keeps(bytes, column.position, old, transaction) { continue }
                builder.set(column.position, value: try transaction.writeValue(bytes))
            default: builder.set(column.position, slot: bytes)
            }
        }
        let body = builder.unsafeBody()
        if let old, KeyBytes.compare(UnsafeRawBufferPointer(start: old.body, count: old.byteCount), body) == 0 { return true }
        try transaction.put(reference, body: body)
        return true
    }

    /// Marks the last row number as given out, by a row that is put and deleted: a number without a record would be forgotten.
    func takeLastNumber(_ transaction: Transaction) throws(StoreError) {
        builder.begin(table.currentLayout)
        let reference = RowReference(table: table.id, row: nextRow - 1)
        try transaction.put(reference, body: builder.unsafeBody())
        _ = try transaction.delete(reference)
    }

    /// Whether a large value equals the row's current one. The row then keeps the current one.
    private func keeps(
        _ bytes: UnsafeRawBufferPointer, _ position: Int, _ old: UnsafeRowView, _ transaction: Transaction
    ) throws(StoreError) -> Bool {
        guard old.layoutID == table.currentLayout.id, !old.isNull(table.currentLayout.access[position]),
            let value = try transaction.value(table.currentLayout.access[position], of: old), try value.elementsEqual(bytes)
        else { return false }
        builder.copy(position, from: old, table.currentLayout.access[position])
        return true
    }

    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var text = String(decoding: bytes, as: UTF8.self)
        return text.withUTF8 { KeyBytes.compare(UnsafeRawBufferPointer($0), bytes) == 0 }
    }
}
