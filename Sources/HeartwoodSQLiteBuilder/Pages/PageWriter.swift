import HeartwoodPlatform

/// Gives page numbers, and writes the pages in the order of their numbers.
///
/// (1) A page gets its number when its content is whole, so the file grows at its end, and no page but the first is written twice.
/// (2) The first page has the file's header. It is written last: a file without it is no database.
/// (3) The page of the locks is filled with zeroes, and only if a page follows it.
final class PageWriter {
    let pageSize: Int
    /// The pages so far, the first one included.
    private(set) var count: UInt32 = 1

    private let path: String
    private let file: any BuildFile
    private let lockPage: UInt32
    private let buffer: UnsafeMutableRawPointer
    private let capacity: Int
    private var buffered = 0
    /// The offset in the file of the buffer's first page.
    private var offset: UInt64

    static let bufferSize = 1 << 20

    init(path: String, file: any BuildFile, pageSize: Int) {
        self.path = path
        self.file = file
        self.pageSize = pageSize
        lockPage = PageFormat.lockPage(pageSize)
        capacity = Self.bufferSize / pageSize
        buffer = .allocate(byteCount: capacity * pageSize, alignment: 16)
        offset = UInt64(pageSize)
    }

    deinit { buffer.deallocate() }

    /// The number that the next page gets.
    var nextNumber: UInt32 { count + 1 == lockPage ? count + 2 : count + 1 }

    /// The next page's bytes, which the caller fills before the next call.
    func append() throws(SQLiteBuildError) -> UnsafeMutableRawPointer {
        if count + 1 == lockPage { memset(try claim(), 0, pageSize) }
        return try claim()
    }

    private func claim() throws(SQLiteBuildError) -> UnsafeMutableRawPointer {
        guard count < PageFormat.pagesMax - 1 else {
            throw SQLiteBuildError(.tooLarge, path: path, "the file has more pages than SQLite can count", remedy: "Choose a larger page size.")
        }
        if buffered == capacity { try flush() }
        defer {
            buffered += 1
            count += 1
        }
        return buffer + buffered * pageSize
    }

    /// - Returns: the number of the page.
    func append(_ page: CellPage) throws(SQLiteBuildError) -> UInt32 {
        let number = nextNumber
        page.seal()
        try append().copyMemory(from: page.bytes, byteCount: pageSize)
        return number
    }

    private func flush() throws(SQLiteBuildError) {
        try file.write(UnsafeRawBufferPointer(start: buffer, count: buffered * pageSize), at: offset)
        offset += UInt64(buffered * pageSize)
        buffered = 0
    }

    /// Makes the other pages durable, then the first one. So a crash leaves a whole database or none.
    func finish(firstPage: UnsafeRawPointer) throws(SQLiteBuildError) {
        if buffered > 0 { try flush() }
        try file.sync()
        try file.write(UnsafeRawBufferPointer(start: firstPage, count: pageSize), at: 0)
        try file.sync()
    }
}
