/// The whole bytes of a record that has overflow pages, in memory that the next such record uses again.
///
/// (1) The memory grows as pages are read, so that a record which only claims to be long costs nothing.
/// (2) A scan reads at most twice as many overflow pages as the files have, so that records which share a chain do not multiply it.
final class OverflowBuffer {
    private var bytes: UnsafeMutableRawPointer?
    private var capacity = 0
    private var page: UnsafeMutableRawPointer?
    private var pagesRead = 0

    deinit {
        bytes?.deallocate()
        page?.deallocate()
    }

    /// Begins to count pages anew.
    func beginScan() { pagesRead = 0 }

    /// - Returns: the record's bytes, with readable bytes behind them. They are valid until the next call.
    func assemble(_ payload: Payload, _ pages: PageStore) throws(SQLiteFileError) -> UnsafeRawPointer {
        var base = reserve(payload.localCount, keeping: 0)
        base.copyMemory(from: payload.local, byteCount: payload.localCount)
        let buffer = page ?? pages.makeBuffer()
        page = buffer
        var done = payload.localCount, next = payload.overflowPage, parent = payload.page
        while done < payload.count {
            guard next != 0 else {
                throw .corrupt(pages.path, page: parent, "an overflow chain ends \(payload.count - done) bytes before its record")
            }
            pagesRead += 1
            guard pagesRead <= 2 * pages.presentPages else {
                throw .corrupt(pages.path, page: parent, "the records of this tree share overflow pages")
            }
            try pages.read(next, from: parent, into: buffer)
            let part = min(pages.usableSize - 4, payload.count - done)
            base = reserve(done + part, keeping: done)
            (base + done).copyMemory(from: buffer + 4, byteCount: part)
            done += part
            parent = next
            next = UnsafeRawPointer(buffer).word(0)
        }
        (base + done).initializeMemory(as: UInt8.self, repeating: 0, count: PageStore.padding)
        return UnsafeRawPointer(base)
    }

    private func reserve(_ count: Int, keeping kept: Int) -> UnsafeMutableRawPointer {
        if let bytes, count + PageStore.padding <= capacity { return bytes }
        let size = max(4096, (count + PageStore.padding) * 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        if let bytes {
            larger.copyMemory(from: bytes, byteCount: kept)
            bytes.deallocate()
        }
        bytes = larger
        capacity = size
        return larger
    }
}
