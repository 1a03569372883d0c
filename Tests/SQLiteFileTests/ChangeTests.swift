import Foundation
import Testing

@testable import HeartwoodSQLiteFile

/// Other programs change a database that is open.
@Suite(.enabled(if: Databases.canBeMade, Databases.needPython)) struct ChangeTests {
    /// A Python program with a connection, which obeys one line at a time.
    private final class Owner {
        private let process: Process
        private let entry = Pipe()
        private let output: Pipe

        init(_ path: String) throws {
            let program = """
                import sqlite3, sys
                c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
                for line in sys.stdin:
                    try:
                        c.execute(line).fetchall() if line.strip() != "close" else c.close()
                        print("done", flush=True)
                    except sqlite3.Error as e:
                        print(e, flush=True)
                """
            (process, output) = Databases.process(["-c", program, path])
            process.standardInput = entry
            try process.run()
        }

        /// - Returns: "done", or SQLite's error.
        @discardableResult
        func run(_ sql: String) -> String {
            entry.fileHandleForWriting.write(Data((sql + "\n").utf8))
            var line: [UInt8] = []
            while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { line.append(byte) }
            return String(decoding: line, as: UTF8.self)
        }

        deinit {
            try? entry.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }

    private static func code(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "none"
        } catch {
            return (error as? SQLiteFileError)?.code.rawValue ?? "\(error)"
        }
    }

    private static func count(_ file: SQLiteFile) throws -> Int { try file.table(named: "t").rowCount() }

    private static func withOwner(_ journal: String, _ body: (Owner, String) throws -> Void) throws {
        try Databases.inDirectory { directory in
            let path = directory.appendingPathComponent("database").path
            let owner = try Owner(path)
            for sql in ["PRAGMA journal_mode = \(journal)", "PRAGMA cache_size = 5", "CREATE TABLE t(a)", "INSERT INTO t VALUES (1), (2)"] {
                #expect(owner.run(sql) == "done")
            }
            try body(owner, path)
        }
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL"])
    func `A commit shows as a change, and opening again shows its rows`(journal: String) throws {
        try Self.withOwner(journal) { owner, path in
            let file = try SQLiteFile.open(path: path)
            #expect(try file.read { try Self.count(file) } == 2)
            #expect(owner.run("INSERT INTO t VALUES (3)") == "done")
            #expect(Self.code { try file.read { _ = try Self.count(file) } } == "changed")
            #expect(Self.code { try file.checkUnchanged() } == "changed")
            let newer = try SQLiteFile.open(path: path)
            #expect(try newer.read { try Self.count(newer) } == 3)
            owner.run("BEGIN")
            owner.run("INSERT INTO t VALUES (4)")
            #expect(try newer.read { try Self.count(newer) } == 3, "an open transaction is none yet")
            owner.run("ROLLBACK")
            #expect(try newer.read { try Self.count(newer) } == 3)
            owner.run("VACUUM")
            #expect(Self.code { try newer.read {} } == "changed")
        }
    }

    @Test
    func `A commit while something is read shows at its end, in log mode`() throws {
        try Self.withOwner("WAL") { owner, path in
            let file = try SQLiteFile.open(path: path)
            let code = Self.code { try file.read { #expect(owner.run("INSERT INTO t VALUES (3)") == "done", "a reader does not hinder a writer") } }
            #expect(code == "changed")
        }
    }

    @Test(arguments: ["DELETE", "MEMORY"])
    func `A commit while something is read waits, in rollback mode`(journal: String) throws {
        try Self.withOwner(journal) { owner, path in
            let file = try SQLiteFile.open(path: path, lockTimeout: .milliseconds(50))
            try file.read {
                let count = try Self.count(file)
                #expect(owner.run("INSERT INTO t VALUES (3)") == "database is locked" && count == 2)
            }
            #expect(owner.run("BEGIN EXCLUSIVE") == "done")
            #expect(Self.code { try file.read {} } == "busy")
            #expect(Self.code { _ = try SQLiteFile.open(path: path, lockTimeout: .milliseconds(50)) } == "busy")
            owner.run("COMMIT")
            #expect(try file.read { try Self.count(file) } == 2)
        }
    }

    @Test(arguments: ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
    func `A checkpoint changes nothing for the reader of its log; the end of that log does`(kind: String) throws {
        try Self.withOwner("WAL") { owner, path in
            let file = try SQLiteFile.open(path: path)
            #expect(owner.run("PRAGMA wal_checkpoint(\(kind))") == "done")
            if kind == "TRUNCATE" {
                #expect(Self.code { try file.read {} } == "changed")
            } else {
                #expect(try file.read { try Self.count(file) } == 2)
                #expect(try file.isCheckpointed())
            }
            let newer = try SQLiteFile.open(path: path)
            #expect(owner.run("UPDATE t SET a = 5") == "done")
            for reader in [file, newer] { #expect(Self.code { try reader.read { _ = try Self.count(reader) } } == "changed") }
        }
    }

    @Test
    func `A whole cycle of commit, checkpoint and close shows, although no log is left`() throws {
        try Self.withOwner("WAL") { owner, path in
            #expect(owner.run("PRAGMA wal_checkpoint(TRUNCATE)") == "done")
            let file = try SQLiteFile.open(path: path)
            #expect(file.logFacts == nil)
            // The file's times differ from those of the opening.
            usleep(20_000)
            #expect(owner.run("UPDATE t SET a = 9") == "done")
            #expect(owner.run("PRAGMA wal_checkpoint(TRUNCATE)") == "done")
            #expect(Self.code { try file.read {} } == "changed")
            let newer = try SQLiteFile.open(path: path)
            #expect(owner.run("close") == "done")
            #expect(try newer.read { try Self.count(newer) } == 2, "closing changed no page")
        }
    }

    @Test
    func `Another file of the name shows, and the open one stays readable`() throws {
        try Self.withOwner("DELETE") { owner, path in
            let file = try SQLiteFile.open(path: path)
            try FileManager.default.copyItem(atPath: path, toPath: path + "-copy")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + "-copy", toPath: path)
            #expect(Self.code { try file.read {} } == "changed")
            #expect(try Self.count(file) == 2)
        }
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "MEMORY", "WAL"])
    func `Beside a writer that never rests every answer is right, or the error says to try again`(journal: String) throws {
        try Databases.inDirectory { directory in
            let path = directory.appendingPathComponent("database").path
            let script = Databases.folder.appendingPathComponent("Scripts/databases.py").path
            let (process, output) = Databases.process([script, "write", path, journal, "2"])
            try process.run()
            #expect(output.fileHandleForReading.availableData.count > 0)
            var answers = 0, retries = 0
            while process.isRunning {
                do {
                    let file = try SQLiteFile.open(path: path)
                    for _ in 0..<3 {
                        try file.read { try Self.checkSum(file) }
                        answers += 1
                    }
                } catch let error as SQLiteFileError {
                    #expect([.changed, .busy].contains(error.code), "\(error)")
                    retries += 1
                }
            }
            #expect(process.terminationStatus == 0)
            #expect(answers + retries > 0)
            // Now that the writer rests, there is an answer at once.
            let file = try SQLiteFile.open(path: path)
            try file.read { try Self.checkSum(file) }
        }
    }

    /// The writer keeps this in each of its commits.
    private static func checkSum(_ file: SQLiteFile) throws {
        guard file.schema.entry(.table, named: "t") != nil else { return }
        var sum: Int64 = 0, count = 0, wrong = false
        try file.table(named: "t").forEachRow { row in
            sum += try row.integer(1) ?? 0
            wrong = try wrong || row.blob(2) == nil
            count += 1
            return true
        }
        // The states inside of a transaction break the rule, and so do pages of two states.
        try file.checkUnchanged()
        #expect(sum == 0 && count % 10 == 0 && !wrong, "\(count) rows, sum \(sum)")
    }
}
