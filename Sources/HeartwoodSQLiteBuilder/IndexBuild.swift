/// One index of a table that is being built: gathers its entries, then writes its tree.
final class IndexBuild {
    let name: String
    private let tableName: String
    private let path: String
    /// Of the table; -1 for the rowid.
    private let columns: UnsafeMutableBufferPointer<Int>
    private let isUnique: Bool
    /// Of a partial index.
    private let condition: SQLiteRowCondition?
    private let order: EntryOrder
    private let sorter: EntrySorter

    init(
        _ name: String, _ table: SQLiteTableBuilder, _ columns: [SQLiteIndexColumn], isUnique: Bool, where condition: SQLiteRowCondition?,
        _ core: BuildCore
    ) {
        self.name = name
        self.isUnique = isUnique
        self.condition = condition
        tableName = table.name
        path = core.path
        self.columns = .allocate(capacity: columns.count)
        _ = self.columns.initialize(from: columns.map { $0.column == table.layout.rowidColumn ? -1 : $0.column ?? -1 })
        order = EntryOrder(descending: columns.map(\.isDescending))
        sorter = core.sortSpace.makeSorter(order)
    }

    deinit { columns.deallocate() }

    /// Adds the entry of the row whose record is in the buffer, if the index has the row.
    func add(_ record: RecordBuffer, rowid: Int64) throws(SQLiteBuildError) {
        if let condition, condition.value(of: record) != true { return }
        let rowidSerial = SerialType.integer(rowid), rowidSize = SerialType.size(rowidSerial)
        var types = 1, content = rowidSize
        for column in columns {
            let serial = column < 0 ? rowidSerial : record.serials[column]
            types += Varint.size(serial)
            content += SerialType.size(serial)
        }
        let header = HeaderSize.with(types)
        guard header + content <= PageFormat.recordMax else { throw tooLarge(rowid) }
        try sorter.add(header + content) { entry in write(record, rowid, rowidSerial, to: entry, header: header) }
    }

    private func tooLarge(_ rowid: Int64) -> SQLiteBuildError {
        SQLiteBuildError(
            .tooLarge, path: path, "the row \(rowid) of \(tableName) has more than \(PageFormat.recordMax) bytes in the index \(name)",
            remedy: "Leave out the index, or the column of it that is long.")
    }

    @inline(__always)
    private func write(_ record: RecordBuffer, _ rowid: Int64, _ rowidSerial: UInt64, to entry: UnsafeMutableRawPointer, header: Int) {
        var type = entry + Varint.write(UInt64(header), to: entry), content = entry + header
        for column in columns {
            let serial = column < 0 ? rowidSerial : record.serials[column], size = SerialType.size(serial)
            type += Varint.write(serial, to: type)
            if column < 0 {
                Self.write(rowid, size, to: content)
            } else {
                content.copyMemory(from: record.memory + record.offsets[column], byteCount: size)
            }
            content += size
        }
        _ = Varint.write(rowidSerial, to: type)
        Self.write(rowid, SerialType.size(rowidSerial), to: content)
    }

    /// Other memory may follow an entry, so this writes only the entry's own bytes.
    private static func write(_ value: Int64, _ size: Int, to bytes: UnsafeMutableRawPointer) {
        for index in 0..<size {
            bytes.storeBytes(of: UInt8(truncatingIfNeeded: value >> Int64(8 * (size - 1 - index))), toByteOffset: index, as: UInt8.self)
        }
    }

    /// - Returns: the number of the root.
    func finish(_ pages: PageWriter) throws(SQLiteBuildError) -> UInt32 {
        let tree = IndexTree(pages: pages), previous = PreviousEntry()
        try sorter.forEach { (entry) throws(SQLiteBuildError) in
            if isUnique {
                try check(entry, previous)
                previous.keep(entry)
            }
            try tree.append(entry)
        }
        return try tree.finish()
    }

    private func check(_ entry: UnsafeRawBufferPointer, _ previous: PreviousEntry) throws(SQLiteBuildError) {
        guard previous.count > 0, let bytes = entry.baseAddress, order.haveEqualKeys(previous.bytes, bytes) else { return }
        let rowids = [order.rowid(previous.bytes), order.rowid(bytes)].sorted()
        throw .duplicate(.init(index: name, table: tableName, first: rowids[0], second: rowids[1]), path: path)
    }

    /// A copy of the entry before, since a merge reads over it.
    private final class PreviousEntry {
        private(set) var bytes = UnsafeMutableRawPointer.allocate(byteCount: 0, alignment: 16)
        private var capacity = 0
        private(set) var count = 0

        deinit { bytes.deallocate() }

        func keep(_ entry: UnsafeRawBufferPointer) {
            if entry.count > capacity {
                bytes.deallocate()
                capacity = max(entry.count, 256)
                bytes = .allocate(byteCount: capacity, alignment: 16)
            }
            count = entry.count
            UnsafeMutableRawBufferPointer(start: bytes, count: count).copyMemory(from: entry)
        }
    }
}

/// A column of an index that is being built.
package struct SQLiteIndexColumn: Sendable, Equatable {
    /// The position in the table's statement; nil for the rowid.
    package var column: Int?
    package var isDescending: Bool

    package init(_ column: Int?, isDescending: Bool = false) {
        self.column = column
        self.isDescending = isDescending
    }
}
