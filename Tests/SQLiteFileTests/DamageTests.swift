import Foundation
import Testing

@testable import HeartwoodSQLiteFile

@Suite struct DamageTests {
    private static let goldens = Databases.folder.appendingPathComponent("Goldens")

    private static func golden(_ name: String) throws -> (main: [UInt8], log: [UInt8]?) {
        let url = goldens.appendingPathComponent(name)
        return (try Databases.bytes(url), try? Databases.bytes(URL(fileURLWithPath: url.path + "-wal")))
    }

    private static func open(_ main: [UInt8], _ log: [UInt8]? = nil, journal: [UInt8]? = nil) throws(SQLiteFileError) -> SQLiteFile {
        try SQLiteFile.open(MemoryFiles(path: "golden", main: main, log: log, journal: journal))
    }

    private static func code(_ body: () throws -> Void) -> SQLiteFileError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SQLiteFileError)?.code
        }
    }

    @Test(arguments: ["plain", "log"])
    func `Databases that were kept read as they were`(name: String) throws {
        let (main, log) = try Self.golden(name)
        let text = try Dump.text(Self.open(main, log))
        #expect(Dump.difference(text, try Databases.dump(Self.goldens.appendingPathComponent(name))) == nil)
    }

    // MARK: Kinds of files

    @Test
    func `A file of no bytes is an empty database`() throws {
        let file = try Self.open([], try Self.golden("log").log)
        #expect(file.schema.entries.isEmpty && file.pageCount == 0 && file.logFacts == nil)
        #expect(Self.code { _ = try file.table(named: "t") } == .noSuchTable)
    }

    @Test
    func `Each kind of unreadable database has its own error`() throws {
        let main = try Self.golden("plain").main
        func code(_ change: (inout [UInt8]) -> Void) -> SQLiteFileError.Code? {
            var bytes = main
            change(&bytes)
            return Self.code { _ = try Self.open(bytes) }
        }
        var random = SystemRandomNumberGenerator()
        #expect(code { $0 = Array("SQLite format 3\0".utf8) } == .tooShort)
        #expect(code { $0 = Array("SQLite".utf8) } == .tooShort)
        #expect(code { $0 = Array("<?xml version=\"1.0\"?>".utf8) } == .notADatabase)
        #expect(code { $0 = [UInt8](repeating: 0, count: 4096) } == .notADatabase)
        #expect(code { $0 = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) } } == .encrypted)
        #expect(code { $0[19] = 3 } == .unsupportedVersion)
        #expect(code { $0[18] = 3 } == nil, "a newer write version does not hinder reading")
        #expect(code { $0[47] = 5 } == .unsupportedVersion)
        #expect(code { $0[16] = 3 } == .corrupt)
        #expect(code { $0[20] = 40 } == .corrupt, "480 bytes of a page must be usable")
        #expect(code { $0[21] = 65 } == .corrupt)
        #expect(code { $0[59] = 4 } == .corrupt)
        #expect(code { $0.removeLast(512) } == .truncated)
        #expect(Self.code { _ = try SQLiteFile.open(path: Self.goldens.path + "/missing") } == .notFound)
        #expect(Self.code { _ = try SQLiteFile.open(path: Self.goldens.path) } == .notADatabase)
    }

    @Test
    func `A page count that is stale is not used`() throws {
        var main = try Self.golden("plain").main
        let expected = try Dump.text(Self.open(main))
        main[31] = 1
        main[95] &+= 1
        #expect(try Dump.text(Self.open(main)) == expected)
        main[95] &-= 1
        #expect(Self.code { _ = try Dump.text(Self.open(main)) } == .corrupt, "the header is current: no page but one belongs to the database")
    }

    @Test
    func `A journal without pages or with other bytes does not count, and one that counts hides the file's pages`() throws {
        let main = try Self.golden("plain").main
        for journal in [[], [0], [UInt8](repeating: 0, count: 600), Array("no journal at all".utf8) + [UInt8](repeating: 1, count: 600)] {
            #expect(try !Self.open(main, journal: journal).isRolledBack)
        }
        let page = Array(main[512..<1024])
        var changed = main
        changed.replaceSubrange(512..<1024, with: [UInt8](repeating: 7, count: 512))
        let journal = Self.journal(pages: [(2, page)], count: UInt32(main.count / 512))
        let file = try Self.open(changed, journal: journal)
        #expect(file.isRolledBack)
        #expect(try Dump.text(file) == Dump.text(Self.open(main)))
        // A wrong checksum ends the journal before the page.
        var torn = journal
        torn[torn.count - 1] ^= 1
        #expect(Self.code { _ = try Dump.text(Self.open(changed, journal: torn)) } == .corrupt)
    }

    private static func journal(pages: [(UInt32, [UInt8])], count: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        func append(_ number: UInt32) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        for number in [UInt32(pages.count), 99, count, 512, 512] { append(number) }
        bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
        for (number, page) in pages {
            append(number)
            bytes += page
            append(99 + UInt32(page[312]) + UInt32(page[112]))
        }
        return bytes
    }

    @Test
    func `A file closes with its last user, and a table that outlives it can be read`() throws {
        weak var file: SQLiteFile?
        var table: SQLiteTable?
        do {
            let opened = try SQLiteFile.open(path: Self.goldens.appendingPathComponent("plain").path)
            table = try opened.table(named: "people")
            _ = try opened.index(named: "people_name")
            file = opened
        }
        #expect(file == nil)
        #expect(try table?.rowCount() == 12)
    }

    // MARK: Logs

    @Test
    func `A log with checksums over big-endian words counts as one over little-endian ones`() throws {
        let (main, log) = try Self.golden("log")
        let expected = try Dump.text(Self.open(main, log))
        #expect(try Dump.text(Self.open(main)) != expected)
        let turned = LogChecksums.repaired(try #require(log), isBigEndian: true)
        #expect(turned != log && LogChecksums.repaired(turned, isBigEndian: false) == log)
        #expect(try Dump.text(Self.open(main, turned)) == expected)
    }

    @Test
    func `A log that is cut anywhere gives the state of its last whole commit`() throws {
        let (main, log) = try Self.golden("log")
        let whole = try #require(log)
        var states: Set<String> = [], commits = 0, openFrames = 0
        for length in stride(from: 0, through: whole.count, by: 67) {
            let file = try Self.open(main, Array(whole.prefix(length)))
            #expect(file.logFacts?.commits ?? 0 >= commits)
            commits = file.logFacts?.commits ?? 0
            openFrames = max(openFrames, file.logFacts?.openFrames ?? 0)
            states.insert(try Dump.text(file))
        }
        #expect(commits == 3 && states.count == 4 && openFrames > 0)
    }

    @Test
    func `The log of a file with another page size or header is recognized`() throws {
        let (main, log) = try Self.golden("log"), plain = try Self.golden("plain").main
        #expect(Self.code { _ = try Self.open(plain, log) } == .foreignLog, "the log's page 1 has another encoding")
        var larger = plain
        larger[16] = 4
        larger += [UInt8](repeating: 0, count: 4096)
        #expect(Self.code { _ = try Self.open(larger, log) } == .foreignLog)
        var unknown = try #require(log)
        unknown[7] = 1
        #expect(try Self.open(main, unknown).logFacts == nil, "a header with a wrong checksum is none")
    }

    // MARK: Every byte

    @Test(arguments: ["plain", "log"])
    func `Every byte of a database may be wrong`(name: String) throws {
        let (main, log) = try Self.golden(name)
        let whole = DatabaseExercise.run(main, log: log)
        #expect(whole > 40)
        for offset in main.indices {
            var bytes = main
            bytes[offset] ^= [0xff, 0x01, 0x80][offset % 3]
            // A tree has no more entries than its pages have cells.
            #expect(DatabaseExercise.run(bytes, log: log) < 20000, "byte \(offset)")
        }
    }

    @Test
    func `Every byte of a log may be wrong`() throws {
        let (main, log) = try Self.golden("log")
        let whole = try #require(log)
        for offset in whole.indices {
            var bytes = whole
            bytes[offset] ^= offset % 2 == 0 ? 0xff : 1
            #expect(DatabaseExercise.run(main, log: bytes) > 0, "byte \(offset): a damaged log leaves a state that was committed")
        }
    }

    @Test
    func `Pages of a log may be wrong, with checksums that are right`() throws {
        let (main, log) = try Self.golden("log")
        let whole = try #require(log)
        for offset in stride(from: 0, to: whole.count, by: 3) {
            var bytes = whole
            bytes[offset] ^= 0x55
            #expect(DatabaseExercise.run(main, log: LogChecksums.repaired(bytes, isBigEndian: offset % 2 == 0)) < 20000)
        }
    }

    @Test
    func `Pages that are changed behind the log's checksums do no harm`() throws {
        let main = try Self.golden("plain").main
        // A stride that is prime meets every kind of field.
        for offset in stride(from: 0, to: main.count, by: 7) {
            var page = Array(main[offset / 512 * 512..<offset / 512 * 512 + 512])
            page[offset % 512] ^= 0x55
            let journal = Self.journal(pages: [(UInt32(offset / 512 + 1), page)], count: UInt32(main.count / 512))
            #expect(DatabaseExercise.run(main, journal: journal) < 20000)
        }
    }

    // MARK: Made to hang

    /// A database of one table whose pages a test lays out.
    private static func database(pages: [[UInt8]]) throws -> [UInt8] {
        var main = Array(try golden("plain").main.prefix(512))
        let record = [6, 23, 15, 15, 1, 47] + Array("tablett\u{2}CREATE TABLE t(a)".utf8)
        let cell = [UInt8(record.count), 1] + record, start = 512 - cell.count
        main[31] = UInt8(1 + pages.count)
        main.replaceSubrange(100..<512, with: [13, 0, 0, 0, 1, UInt8(start >> 8), UInt8(start & 255), 0, UInt8(start >> 8), UInt8(start & 255)]
            + [UInt8](repeating: 0, count: start - 110) + cell)
        return main + pages.flatMap { $0 + [UInt8](repeating: 0, count: 512 - $0.count) }
    }

    /// An interior page whose children are all the same page.
    private static func interior(child: UInt8, count: Int) -> [UInt8] {
        var page: [UInt8] = [5, 0, 0, 0, UInt8(count), 0, 0, 0, 0, 0, 0, child]
        let cells = 12 + 2 * count
        for index in 0..<count { page += [UInt8((cells + 5 * index) >> 8), UInt8((cells + 5 * index) & 255)] }
        for index in 0..<count { page += [0, 0, 0, child, UInt8(index)] }
        return page
    }

    private static let emptyLeaf: [UInt8] = [13, 0, 0, 0, 0, 2, 0, 0]

    @Test
    func `Trees with cycles and with pages that occur often end with an error`() throws {
        let cycle = try Self.database(pages: [Self.interior(child: 2, count: 3)])
        // Without the bound on pages these would be 50 to the power of 12 leaves.
        let layers = (0..<12).map { Self.interior(child: UInt8($0 + 3), count: 50) }
        let shared = try Self.database(pages: layers + [Self.emptyLeaf])
        for bytes in [cycle, shared] {
            let file = try Self.open(bytes), table = try file.table(named: "t")
            #expect(Self.code { _ = try table.rowCount() } == .corrupt)
            #expect(Self.code { try table.forEachRow { _ in true } } == .corrupt)
        }
        let fine = try Self.database(pages: [Self.emptyLeaf])
        #expect(try Self.open(fine).table(named: "t").rowCount() == 0)
        let disorder = try Self.database(pages: [[13, 0, 0, 0, 2, 1, 0, 0, 0, 12, 0, 16, 2, 5, 2, 8, 2, 5, 2, 8]])
        #expect(Self.code { try Self.open(disorder).table(named: "t").forEachRow { _ in true } } == .corrupt, "two rows have one rowid")
    }

    @Test
    func `Records that share one overflow chain do not multiply its cost`() throws {
        // Twelve rows of 39 pages each, which are all stored in the same pages.
        let count = 12, size = 20000
        var page: [UInt8] = [13, 0, 0, 0, UInt8(count), 1, 0, 0], cells: [UInt8] = []
        let limits = Payload.Limits(usableSize: 512, isTable: true)
        let local = limits.localCount(size), start = 8 + 2 * count
        for row in 0..<count {
            // The cells overlap: the next one begins behind the header of the record.
            page += [UInt8((start + 8 * row) >> 8), UInt8((start + 8 * row) & 255)]
            cells += [0x80 | UInt8(size >> 14), 0x80 | UInt8(size >> 7 & 127), UInt8(size & 127), UInt8(row + 1), 4, 0x82, 0xb8, 0x44]
        }
        #expect(start + 8 * count + local + 4 < 512)
        // Any four bytes behind a cell's local bytes lead to page 3.
        page += cells
        while page.count < 512 { page += [0] }
        for at in stride(from: start + 8 * count, to: 508, by: 4) { page.replaceSubrange(at..<at + 4, with: [0, 0, 0, 3]) }
        let chain = (0..<size / 508 + 1).map { [0, 0, 0, UInt8($0 + 4)] + [UInt8](repeating: 1, count: 508) }
        let file = try Self.open(Self.database(pages: [page] + chain))
        let code = Self.code {
            try file.table(named: "t").forEachRow { row in
                _ = try row.value(0)
                return true
            }
        }
        #expect(code == .corrupt && file.pages.pagesRead < 4 * file.pageCount)
    }

    @Test
    func `Errors name the page and the offset`() throws {
        let beyond = try Self.database(pages: [Self.interior(child: 99, count: 1)])
        let error = #expect(throws: SQLiteFileError.self) { _ = try Self.open(beyond).table(named: "t").rowCount() }
        #expect(error?.page == 2 && error?.description.contains("page 99") == true)
        let cell = try Self.database(pages: [[13, 0, 0, 0, 1, 1, 0, 0, 1, 255]])
        let outside = #expect(throws: SQLiteFileError.self) { try Self.open(cell).table(named: "t").forEachRow { _ in true } }
        #expect(outside?.page == 2 && outside?.offset == 8)
        // A record of 2^62 bytes costs nothing.
        let long = try Self.database(pages: [[13, 0, 0, 0, 1, 0, 10, 0, 0, 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1]])
        let large = #expect(throws: SQLiteFileError.self) { try Self.open(long).table(named: "t").forEachRow { _ in true } }
        #expect(large?.code == .corrupt && large?.offset == 20)
    }
}
