import Foundation
import Testing

@testable import HeartwoodSQLiteFile

@Suite struct StructureTests {
    private static let goldens = Databases.folder.appendingPathComponent("Goldens")

    private struct Found {
        var report: StructureReport
        var findings: [StructureFinding]
        var texts: [String] { findings.map { "\($0.owner ?? "-"): \($0.message)" } }
    }

    /// Checks the structure, and each index whose trees are sound.
    private static func check(_ file: SQLiteFile) throws -> Found {
        var findings: [StructureFinding] = []
        let report = try file.read { () throws -> StructureReport in
            let report = try file.checkStructure { findings.append($0) }
            let sound = Dictionary(uniqueKeysWithValues: Set(report.trees.filter { $0.isSound && !$0.isIndex }.map(\.name)).map { name in
                (name, report.trees.first { $0.name == name }?.entries ?? 0)
            })
            for tree in report.trees where tree.isIndex && tree.isSound {
                if let rows = sound[tree.tableName] { try file.checkIndex(named: tree.name, rows: rows) { findings.append($0) } }
            }
            return report
        }
        return Found(report: report, findings: findings)
    }

    private static func memory(_ name: String) throws -> (main: [UInt8], log: [UInt8]?) {
        let url = goldens.appendingPathComponent(name)
        return (try Databases.bytes(url), try? Databases.bytes(URL(fileURLWithPath: url.path + "-wal")))
    }

    private static func open(_ main: [UInt8], _ log: [UInt8]? = nil) throws -> SQLiteFile {
        try SQLiteFile.open(MemoryFiles(path: "golden", main: main, log: log))
    }

    @Test(arguments: ["plain", "log"])
    func `A sound database has no findings, and each of its pages has one use`(name: String) throws {
        let (main, log) = try Self.memory(name), file = try Self.open(main, log), found = try Self.check(file)
        #expect(found.texts == [])
        let used = found.report.trees.reduce(0) { $0 + $1.pages + $1.overflowPages }
        #expect(used + found.report.freePages + found.report.pointerMapPages + found.report.unusedPages == file.pageCount)
        #expect(found.report.trees.first?.name == StructureReport.schemaTable)
        for tree in found.report.trees.dropFirst() where !tree.isIndex {
            let table = try file.table(named: tree.name)
            #expect(try table.rowCount() == tree.entries, "\(tree.name)")
        }
    }

    @Test(.enabled(if: Databases.canBeMade, Databases.needPython))
    func `Databases with pointer maps, free pages, overflow and every page size are sound`() throws {
        for pageSize in [512, 1024, 4096, 65536] {
            for vacuum in ["NONE", "FULL", "INCREMENTAL"] {
                let sql = """
                    PRAGMA auto_vacuum = \(vacuum);
                    VACUUM;
                    CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c BLOB, d FLOAT);
                    CREATE INDEX t_b ON t (b, d);
                    CREATE UNIQUE INDEX t_c ON t (c);
                    CREATE INDEX t_part ON t (d) WHERE a > 50;
                    CREATE INDEX t_length ON t (length(c) DESC);
                    CREATE TABLE w (a TEXT PRIMARY KEY, b) WITHOUT ROWID;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) \
                    INSERT INTO t SELECT i, 'text ' || (i % 7), zeroblob(i * 13 % 5000) || i, CASE i % 3 WHEN 0 THEN NULL ELSE i END FROM n;
                    INSERT INTO w SELECT b || a, c FROM t;
                    DELETE FROM t WHERE a BETWEEN 100 AND 180;
                    """
                try Databases.withScript(sql, pageSize: pageSize) { url in
                    let found = try Self.check(try SQLiteFile.open(path: url.path))
                    #expect(found.texts == [], "\(pageSize) \(vacuum)")
                    #expect(found.report.trees.contains { $0.overflowPages > 0 || pageSize == 65536 })
                    #expect(found.report.trees.contains { $0.pages > 3 || pageSize == 65536 })
                }
            }
        }
    }

    @Test(.enabled(if: Databases.canBeMade, Databases.needPython))
    func `An index that lacks rows, has others or other values is found, with its name`() throws {
        // The schema is changed by hand, so that an index stays behind its table.
        func findings(_ change: String) throws -> [String] {
            let sql = """
                CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
                CREATE INDEX t_b ON t (b);
                INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three');
                PRAGMA writable_schema = ON;
                CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = 't_b';
                DELETE FROM sqlite_master WHERE name = 't_b';
                """
            return try Databases.withScript(sql) { url in
                try Databases.execute(
                    """
                    \(change);
                    PRAGMA writable_schema = ON;
                    INSERT INTO sqlite_master SELECT * FROM kept;
                    DROP TABLE kept;
                    """, at: url)
                return try Self.check(try SQLiteFile.open(path: url.path)).texts
            }
        }
        #expect(try findings("SELECT 1") == [])
        #expect(try findings("INSERT INTO t VALUES (4, 'four')") == ["t_b: it has 3 entries, and t has 4 rows"])
        #expect(try findings("UPDATE t SET b = 'zwei' WHERE a = 2") == ["t_b: its entry for row 2 has another b than the row"])
        #expect(try findings("DELETE FROM t WHERE a = 1") == [
            "t_b: it has an entry for row 1 of t, which does not exist", "t_b: it has 3 entries, and t has 2 rows",
        ])
    }

    // MARK: Damage

    @Test(arguments: ["plain", "log"])
    func `Damage in each structure has a finding with its page`(name: String) throws {
        let (main, log) = try Self.memory(name), file = try Self.open(main, log)
        let pageSize = file.header.pageSize
        guard let table = file.schema.tables.first(where: { $0.rootPage > 1 }) else { return #expect(Bool(false), "a table is there") }
        let start = (Int(table.rootPage) - 1) * pageSize
        guard log == nil, start + pageSize <= main.count else { return }
        func texts(_ change: (inout [UInt8]) -> Void) throws -> [String] {
            var bytes = main
            change(&bytes)
            return try Self.check(try Self.open(bytes)).texts
        }
        #expect(try texts { $0[start] = 7 }.contains { $0.hasPrefix("\(table.name): ") })
        #expect(try texts { $0[start + 3] = 255 }.contains("\(table.name): \(255 * 256 + Int(main[start + 4])) cells do not fit into a page"))
        #expect(try texts { $0[39] &+= 1 }.contains { $0.contains("free pages, and the list has") })
        #expect(try texts { ($0[start + 1], $0[start + 2]) = (0, 1) }.contains { $0.contains("free block") })
    }

    @Test
    func `A change of any byte is an error, a finding, or harmless, and never a trap or a hang`() throws {
        var count = 0
        for name in ["plain", "log"] {
            let (main, log) = try Self.memory(name)
            for offset in 0..<main.count {
                var bytes = main
                bytes[offset] = offset % 3 == 0 ? ~main[offset] : main[offset] ^ 1
                // An error is as good as a finding.
                guard let found = try? Self.check(try Self.open(bytes, log)) else { continue }
                count += found.findings.isEmpty ? 0 : 1
            }
        }
        #expect(count > 500)
    }

    // MARK: The log

    @Test
    func `A wrong checksum in the log, an unfinished transaction and frames of an earlier cycle are told apart`() throws {
        let (main, log) = try Self.memory("log"), bytes = try #require(log)
        let sound = try #require(try Self.open(main, bytes).logFile())
        let frame = Int(try Self.open(main, bytes).header.pageSize) + 24
        #expect(sound.isValid && sound.wrongFrame == nil && sound.bytes == UInt64(bytes.count) && sound.salts.count == 2)
        let facts = try #require(try Self.open(main, bytes).logFacts), used = facts.frames + facts.openFrames
        #expect(sound.ignoredFrames == (bytes.count - 32) / frame - used)
        var damaged = bytes
        damaged[32 + 24 + 5] ^= 1
        if let file = try? Self.open(main, damaged), let found = try file.logFile() {
            #expect(found.wrongFrame == 1 && found.wrongFrameOffset == 32 && found.ignoredFrames == (bytes.count - 32) / frame)
        }
        var other = bytes
        other[0] = 0
        if let file = try? Self.open(main, other) { #expect(try file.logFile()?.isValid == false) }
        #expect(try Self.open(try Self.memory("plain").main).logFile() == nil)
    }
}
