/// The pointer-map pages of a database that can be vacuumed page by page. Source: SQLite, "Database File Format", 1.8.
final class PointerMap {
    enum Kind: UInt8 {
        case root = 1, free, firstOverflow, overflow, tree
    }

    private let pages: PageStore
    private let perPage: UInt32
    private let buffer: UnsafeMutableRawPointer
    private var loaded: UInt32 = 0

    init(_ pages: PageStore) {
        self.pages = pages
        perPage = UInt32(pages.usableSize / 5) + 1
        buffer = pages.makeBuffer()
    }

    deinit { buffer.deallocate() }

    /// The pointer-map page with the entry of a page.
    private func home(of page: UInt32) -> UInt32 {
        let page = (page - 2) / perPage * perPage + 2
        return page == LockPage.number(pages.pageSize) ? page + 1 : page
    }

    func isMap(_ page: UInt32) -> Bool { page >= 2 && home(of: page) == page }

    /// - Returns: nil if the entry of the page says so; else the message about it.
    func fault(of page: UInt32, _ kind: Kind, parent: UInt32) throws(SQLiteFileError) -> String? {
        let home = home(of: page), offset = 5 * Int(page - home - 1)
        if loaded != home {
            loaded = 0
            try pages.read(home, from: page, into: buffer)
            loaded = home
        }
        let bytes = UnsafeRawPointer(buffer), found = bytes.byte(offset), stated = bytes.word(offset + 1)
        guard found != kind.rawValue || stated != parent else { return nil }
        return "the pointer map has kind \(found) and parent \(stated) for page \(page), not kind \(kind.rawValue) and parent \(parent)"
    }
}
