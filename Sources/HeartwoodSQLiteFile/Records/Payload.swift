/// The bytes of one cell's record: those in its page, and where the others are. Source: SQLite, "Database File Format", 1.6 and 1.7.
struct Payload {
    var local: UnsafeRawPointer
    var localCount: Int
    var count: Int
    /// 0 if all bytes are in the page.
    var overflowPage: UInt32
    var page: UInt32

    /// The sizes that decide how much of a record is in its page.
    struct Limits {
        let usable: Int
        let localMax: Int
        let localMin: Int

        init(usableSize: Int, isTable: Bool) {
            usable = usableSize
            localMin = (usableSize - 12) * 32 / 255 - 23
            localMax = isTable ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
        }

        /// The bytes in the page of a record that is longer than `localMax`.
        func localCount(_ count: Int) -> Int {
            let count = localMin + (count - localMin) % (usable - 4)
            return count <= localMax ? count : localMin
        }
    }
}

extension TreePath {
    /// - Parameters:
    ///   - count: as the cell says.
    ///   - offset: of the record's first byte.
    @inline(__always)
    func payload(_ count: UInt64, at offset: Int, _ limits: Payload.Limits) throws(SQLiteFileError) -> Payload {
        let page = top
        let start = UnsafeRawPointer(page.pointee.bytes) + offset
        if count <= UInt64(limits.localMax) {
            let count = Int(truncatingIfNeeded: count)
            guard offset + count <= limits.usable else { throw beyond(page.pointee.number, offset) }
            return Payload(local: start, localCount: count, count: count, overflowPage: 0, page: page.pointee.number)
        }
        return try overflowing(count, at: offset, limits)
    }

    @inline(never)
    private func overflowing(_ count: UInt64, at offset: Int, _ limits: Payload.Limits) throws(SQLiteFileError) -> Payload {
        let page = top.pointee.number
        guard count <= UInt64(min(pages.presentBytes, Int(Int32.max))) else {
            throw .corrupt(pages.path, page: page, offset: offset, "a record of \(count) bytes is larger than the file")
        }
        let local = limits.localCount(Int(count))
        guard offset + local + 4 <= limits.usable else { throw beyond(page, offset) }
        let start = UnsafeRawPointer(top.pointee.bytes) + offset
        return Payload(local: start, localCount: local, count: Int(count), overflowPage: start.word(local), page: page)
    }

    @inline(never)
    private func beyond(_ page: UInt32, _ offset: Int) -> SQLiteFileError {
        .corrupt(pages.path, page: page, offset: offset, "a record ends behind its page")
    }
}
