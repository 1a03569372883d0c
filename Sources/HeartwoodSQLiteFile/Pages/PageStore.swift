/// The pages of one state of a database: the file's, under those of a write-ahead log or a rollback journal.
///
/// (1) A page number is from 1 to `pageCount` and not the lock page's, or it is an error.
/// (2) A page comes from the overlay if that has it, else from the file. A page that the file has only in part is an error.
/// (3) Memory: the cache has a fixed size. The overlay has an entry for each page of the log.
final class PageStore {
    let path: String
    let pageSize: Int
    let usableSize: Int
    let pageCount: UInt32
    /// The most pages that one scan can meet. A file may state any page count, so this one is from the files' sizes.
    let presentPages: Int
    /// The most bytes that one value can have.
    let presentBytes: Int

    private let main: any ByteSource
    private let overlay: PageOverlay?
    private let lockPage: UInt32

    // Direct-mapped: a page has one frame where it can be.
    private let cache: UnsafeMutableRawPointer
    private let cachedPages: UnsafeMutablePointer<UInt32>
    private let frameMask: Int
    /// Pages read from the files since the opening, for tests of cost.
    private(set) var pagesRead = 0

    static let cacheBytes = 2 << 20
    /// Numbers of up to nine bytes are read without a check of the page's end.
    static let padding = 16

    init(path: String, header: DatabaseHeader, pageCount: UInt32, main: any ByteSource, mainSize: UInt64, overlay: PageOverlay?) {
        self.path = path
        pageSize = header.pageSize
        usableSize = header.usableSize
        self.pageCount = pageCount
        self.main = main
        self.overlay = overlay
        lockPage = LockPage.number(header.pageSize)
        let inMain = mainSize / UInt64(header.pageSize) + 1
        presentPages = Int(clamping: min(UInt64(pageCount), inMain + UInt64(overlay?.offsets.count ?? 0)))
        presentBytes = presentPages.multipliedReportingOverflow(by: header.pageSize).partialValue
        let frames = Self.cacheBytes / header.pageSize
        frameMask = frames - 1
        cache = .allocate(byteCount: frames * header.pageSize, alignment: 16)
        cachedPages = .allocate(capacity: frames)
        cachedPages.initialize(repeating: 0, count: frames)
    }

    deinit {
        cache.deallocate()
        cachedPages.deallocate()
    }

    /// A buffer for one page, with readable bytes behind it.
    func makeBuffer() -> UnsafeMutableRawPointer {
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: pageSize + Self.padding, alignment: 16)
        (buffer + pageSize).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
        return buffer
    }

    /// - Parameter parent: the page that refers to this one, for the error; 0 for a root.
    func read(_ page: UInt32, from parent: UInt32, into buffer: UnsafeMutableRawPointer) throws(SQLiteFileError) {
        let frame = Int(page) & frameMask
        if cachedPages[frame] == page, page != 0 { return buffer.copyMemory(from: cache + frame * pageSize, byteCount: pageSize) }
        guard page >= 1, page <= pageCount, page != lockPage else { throw outOfRange(page, parent) }
        try fetch(page, into: buffer)
    }

    /// Whether the cache has room for all pages.
    var cacheHoldsAll: Bool { presentPages <= frameMask + 1 }

    /// Puts a page that is likely to be read again into the cache.
    func keep(_ page: UInt32, _ buffer: UnsafeMutableRawPointer) {
        let frame = Int(page) & frameMask
        guard cachedPages[frame] != page else { return }
        (cache + frame * pageSize).copyMemory(from: buffer, byteCount: pageSize)
        cachedPages[frame] = page
    }

    private func fetch(_ page: UInt32, into buffer: UnsafeMutableRawPointer) throws(SQLiteFileError) {
        pagesRead += 1
        let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: pageSize)
        if let overlay, let offset = overlay.offsets[page] {
            guard try overlay.source.read(into: bytes, at: offset) == pageSize else { throw missing(page, offset, overlay.name) }
            return
        }
        let offset = UInt64(page - 1) * UInt64(pageSize)
        guard try main.read(into: bytes, at: offset) == pageSize else { throw missing(page, offset, "file") }
    }

    private func outOfRange(_ page: UInt32, _ parent: UInt32) -> SQLiteFileError {
        let what = page == lockPage ? "which is the page of the locks" : "but the database has the pages 1 to \(pageCount)"
        return .corrupt(path, page: parent == 0 ? nil : parent, "a reference leads to page \(page), \(what)")
    }

    private func missing(_ page: UInt32, _ offset: UInt64, _ name: String) -> SQLiteFileError {
        let others = overlay == nil || name != "file" ? "" : "; the \(overlay?.name ?? "") beside it may be that of another file"
        return SQLiteFileError(
            .truncated, path: path, page: page, "the \(name) ends before this page, at byte \(offset)\(others)",
            remedy: "Restore a whole copy of the database, with its log if there is one.")
    }

    /// Whether the file has the overlay's pages already, as after a checkpoint.
    func overlayIsInFile() throws(SQLiteFileError) -> Bool {
        guard let overlay else { return true }
        let newer = makeBuffer(), older = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 16)
        defer {
            newer.deallocate()
            older.deallocate()
        }
        for page in overlay.offsets.keys where page <= pageCount {
            try fetch(page, into: newer)
            guard try main.read(into: older, at: UInt64(page - 1) * UInt64(pageSize)) == pageSize,
                older.elementsEqual(UnsafeRawBufferPointer(start: newer, count: pageSize))
            else { return false }
        }
        return true
    }
}

/// Pages that hide those of the file.
struct PageOverlay {
    /// As messages say it.
    let name: String
    let source: any ByteSource
    let offsets: [UInt32: UInt64]
}
