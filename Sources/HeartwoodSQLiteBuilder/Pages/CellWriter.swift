/// Makes cells of records. The part of a record that its page does not take goes to overflow pages, which are written at once.
/// Source: SQLite, "Database File Format", 1.6 and 1.7.
final class CellWriter {
    private let pages: PageWriter
    private let limits: PayloadLimits
    private let cell: UnsafeMutableRawPointer

    init(pages: PageWriter, isTable: Bool) {
        self.pages = pages
        limits = PayloadLimits(pageSize: pages.pageSize, isTable: isTable)
        cell = .allocate(byteCount: pages.pageSize, alignment: 16)
    }

    deinit { cell.deallocate() }

    /// - Parameter rowid: nil for an index.
    /// - Returns: the cell, until the next one is made.
    func make(_ record: UnsafeRawBufferPointer, rowid: Int64?) throws(SQLiteBuildError) -> UnsafeRawBufferPointer {
        var size = Varint.write(UInt64(record.count), to: cell)
        if let rowid { size += Varint.write(UInt64(bitPattern: rowid), to: cell + size) }
        let local = limits.localCount(record.count)
        UnsafeMutableRawBufferPointer(start: cell + size, count: local).copyMemory(from: UnsafeRawBufferPointer(rebasing: record[..<local]))
        size += local
        if local < record.count {
            cell.setWord(try writeOverflow(UnsafeRawBufferPointer(rebasing: record[local...])), at: size)
            size += PageFormat.overflowHeader
        }
        return UnsafeRawBufferPointer(start: cell, count: size)
    }

    /// - Returns: the first page.
    private func writeOverflow(_ bytes: UnsafeRawBufferPointer) throws(SQLiteBuildError) -> UInt32 {
        let first = pages.nextNumber, room = pages.pageSize - PageFormat.overflowHeader
        var done = 0
        while done < bytes.count {
            let count = min(room, bytes.count - done)
            let page = try pages.append()
            page.setWord(done + count < bytes.count ? pages.nextNumber : 0, at: 0)
            let rest = UnsafeMutableRawBufferPointer(start: page + PageFormat.overflowHeader, count: room)
            rest.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[done..<done + count]))
            if count < room { UnsafeMutableRawBufferPointer(rebasing: rest[count...]).initializeMemory(as: UInt8.self, repeating: 0) }
            done += count
        }
        return first
    }
}
