/// The pages that a rollback journal has: the state before a transaction that its writer did not finish.
/// Source: SQLite, "Database File Format", 3, and pager_playback in pager.c.
///
/// (1) A journal counts if it has its magic bytes and at least one page, and if the super-journal that it names exists.
/// (2) A page counts if its checksum is right. The first that is not ends the journal.
/// (3) The first copy of a page is the one from before the transaction.
struct RollbackJournal {
    let pageSize: Int
    private(set) var offsets: [UInt32: UInt64] = [:]
    /// The database's page count before the transaction.
    let pageCount: UInt32

    private let sectorSize: UInt64
    private let size: UInt64

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    /// Longer names are none that SQLite writes.
    private static let nameSizeMax = 4096

    private enum Layout {
        static let records = 8
        static let nonce = 12
        static let pageCount = 16
        static let sectorSize = 20
        static let pageSize = 24
        static let size = 28
        /// Behind a super-journal's name: length, checksum, magic bytes.
        static let superTail = 16
    }

    /// - Parameter exists: whether a file has this path.
    /// - Returns: nil if the journal does not count (1).
    init?(reading source: any ByteSource, pageSizeOfFile: Int, exists: (String) -> Bool) throws(SQLiteFileError) {
        size = try source.status().size
        let header = try source.prefix(Layout.size)
        guard header.count == Layout.size, header.starts(with: Self.magic) else { return nil }
        func word(_ offset: Int) -> UInt32 { header.withUnsafeBytes { $0.baseAddress!.word(offset) } }
        guard word(Layout.records) != 0 else { return nil }
        pageCount = word(Layout.pageCount)
        sectorSize = UInt64(word(Layout.sectorSize))
        pageSize = word(Layout.pageSize) == 0 ? pageSizeOfFile : Int(word(Layout.pageSize))
        guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { return nil }
        guard (32...65536).contains(sectorSize), sectorSize & (sectorSize - 1) == 0 else { return nil }
        if let name = try Self.superJournal(source, size), !exists(name) { return nil }
        try readParts(source)
    }

    /// The transaction of several databases that the journal is part of, by the name of its super-journal.
    private static func superJournal(_ source: any ByteSource, _ size: UInt64) throws(SQLiteFileError) -> String? {
        guard size >= UInt64(Layout.superTail) else { return nil }
        let tail = try source.bytes(at: size - UInt64(Layout.superTail), count: Layout.superTail)
        guard tail.count == Layout.superTail, tail[8...].elementsEqual(magic) else { return nil }
        let (length, sum) = tail.withUnsafeBytes { (Int($0.baseAddress!.word(0)), $0.baseAddress!.word(4)) }
        guard length > 0, length <= nameSizeMax, UInt64(length + Layout.superTail) <= size else { return nil }
        let name = try source.bytes(at: size - UInt64(length + Layout.superTail), count: length)
        // SQLite adds the characters as signed bytes.
        let actual = name.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
        return actual == sum ? String(decoding: name, as: UTF8.self) : nil
    }

    /// A journal has several parts, each with a header at the start of a sector.
    private mutating func readParts(_ source: any ByteSource) throws(SQLiteFileError) {
        var start: UInt64 = 0
        let record = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize + 8, alignment: 8)
        defer { record.deallocate() }
        while start + sectorSize <= size {
            let header = try source.bytes(at: start, count: Layout.size)
            guard header.count == Layout.size, header.starts(with: Self.magic) else { return }
            let (records, nonce) = header.withUnsafeBytes { ($0.baseAddress!.word(Layout.records), $0.baseAddress!.word(Layout.nonce)) }
            var offset = start + sectorSize
            // A writer that never syncs leaves the count open: the part goes on to the end.
            let room = (size - offset) / UInt64(record.count)
            let count = records == .max ? room : min(UInt64(records), room)
            for _ in 0..<count {
                guard try readRecord(source, offset, nonce, record) else { return }
                offset += UInt64(record.count)
            }
            guard offset > start + sectorSize, UInt64(records) == count else { return }
            start = (offset + sectorSize - 1) / sectorSize * sectorSize
        }
    }

    /// - Returns: false if the record ends the journal (2).
    private mutating func readRecord(
        _ source: any ByteSource, _ offset: UInt64, _ nonce: UInt32, _ record: UnsafeMutableRawBufferPointer
    ) throws(SQLiteFileError) -> Bool {
        guard try source.read(into: record, at: offset) == record.count else { return false }
        let bytes = UnsafeRawPointer(record.baseAddress!)
        let page = bytes.word(0)
        guard page != 0, page != LockPage.number(pageSize) else { return false }
        var sum = nonce
        for index in stride(from: pageSize - 200, to: 0, by: -200) { sum = sum &+ UInt32(bytes.byte(4 + index)) }
        guard sum == bytes.word(4 + pageSize) else { return false }
        if page <= pageCount, offsets[page] == nil { offsets[page] = offset + 4 }
        return true
    }
}

/// The page with the bytes that SQLite locks. It never has content.
enum LockPage {
    static func number(_ pageSize: Int) -> UInt32 { UInt32(0x4000_0000 / pageSize + 1) }
}
