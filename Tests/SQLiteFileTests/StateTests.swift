import Foundation
import Testing

@testable import HeartwoodSQLiteFile

@Suite struct StateTests {
    static let names = [
        "rollback-delete", "rollback-truncate", "rollback-persist", "vacuumed", "wal-schema", "wal", "wal-checkpointed", "wal-restarted",
        "wal-more", "wal-torn", "wal-damaged", "wal-uncommitted", "wal-cut",
    ]

    @Test(.enabled(if: Databases.canBeMade, Databases.needPython), arguments: [512, 1024, 4096, 65536], ["UTF-8", "UTF-16le", "UTF-16be"])
    func `A database in every state of its files has the rows that SQLite reads`(pageSize: Int, encoding: String) throws {
        try Databases.inDirectory { directory in
            try Databases.make(["states", directory.path, String(pageSize), encoding])
            for name in Self.names {
                let url = directory.appendingPathComponent(name)
                let before = try Self.contents(directory)
                let file = try SQLiteFile.open(path: url.path)
                #expect(file.header.pageSize == pageSize)
                let text = try file.read { try Dump.text(file) }
                #expect(Dump.difference(text, try Databases.dump(url)) == nil, "\(name)")
                #expect(try Self.contents(directory) == before, "nothing is created or changed beside \(name)")
                guard pageSize == 512 else { continue }
                let inMemory = try SQLiteFile.open(try Databases.files(url))
                #expect(try Dump.text(inMemory) == text)
            }
        }
    }

    /// Names, sizes and times.
    private static func contents(_ directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted().map { name in
            let facts = try FileManager.default.attributesOfItem(atPath: directory.appendingPathComponent(name).path)
            return "\(name) \(facts[.size] ?? 0) \(facts[.modificationDate] ?? 0)"
        }
    }

    @Test(.enabled(if: Databases.canBeMade, Databases.needPython))
    func `The facts of header and log are those of the file`() throws {
        try Databases.inDirectory { directory in
            try Databases.make(["states", directory.path, "1024", "UTF-16be"])
            func open(_ name: String) throws -> SQLiteFile { try SQLiteFile.open(path: directory.appendingPathComponent(name).path) }
            let plain = try open("rollback-delete"), cut = try open("rollback-truncate")
            #expect(plain.logFacts == nil)
            #expect(plain.header.autoVacuum == .none && cut.header.autoVacuum == .full)
            #expect(plain.header.freelistCount > 0, "rows were deleted")
            #expect(plain.header.encoding == .utf16BigEndian && !plain.header.usesWriteAheadLog)
            let log = try open("wal"), copied = try open("wal-checkpointed")
            #expect(log.header.autoVacuum == .incremental && log.header.usesWriteAheadLog)
            let facts = try #require(log.logFacts)
            #expect(facts.commits == 2 && facts.openFrames == 0 && facts.frames >= facts.pages && facts.pages > 10)
            #expect(try !log.isCheckpointed())
            #expect(try copied.isCheckpointed())
            #expect(try open("wal-restarted").logFacts?.commits == 1)
            #expect(try open("wal-cut").logFacts == nil)
        }
    }

    @Test(.enabled(if: Databases.canBeMade, Databases.needPython), arguments: [512, 4096, 65536], ["FULL", "OFF"])
    func `A journal whose writer died is rolled back in memory`(pageSize: Int, synchronous: String) throws {
        try Databases.inDirectory { directory in
            try Databases.make(["journal", directory.path, String(pageSize), synchronous])
            let url = directory.appendingPathComponent("hot")
            let bytes = try Databases.bytes(url)
            let file = try SQLiteFile.open(path: url.path)
            #expect(file.isRolledBack)
            #expect(Dump.difference(try file.read { try Dump.text(file) }, try Databases.dump(url)) == nil)
            #expect(try Databases.bytes(url) == bytes)
            // Of a transaction over several databases whose super-journal is gone, the journal does not count.
            try Self.name(superJournal: directory.path + "/gone", in: url)
            #expect((try? SQLiteFile.open(path: url.path))?.isRolledBack != true)
            try Data().write(to: directory.appendingPathComponent("gone"))
            let named = try SQLiteFile.open(path: url.path)
            #expect(Dump.difference(try named.read { try Dump.text(named) }, try Databases.dump(url)) == nil)
        }
    }

    /// Appends the name of a super-journal to a journal.
    private static func name(superJournal: String, in url: URL) throws {
        let journal = URL(fileURLWithPath: url.path + "-journal")
        var bytes = try Databases.bytes(journal)
        func append(_ number: UInt32) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        append(0)
        bytes.append(contentsOf: superJournal.utf8)
        append(UInt32(superJournal.utf8.count))
        append(superJournal.utf8.reduce(0) { $0 &+ UInt32($1) })
        bytes.append(contentsOf: [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
        try Data(bytes).write(to: journal)
    }
}
