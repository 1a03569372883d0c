import Foundation
import HeartwoodTestSupport
import Testing

@testable import HeartwoodSQLiteFile

/// Databases that SQLite makes for a test, by Scripts/databases.py.
enum Databases {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// Whether there is a Python with SQLite. Without it the tests of these databases are skipped.
    static let canBeMade = Python.hasSQLite
    static let needPython: Comment = "needs python3 with its module sqlite3"

    /// Runs the script.
    /// - Returns: what it prints.
    @discardableResult
    static func make(_ arguments: [String], input: String = "") throws -> String {
        try Python.run([folder.appendingPathComponent("Scripts/databases.py").path] + arguments, input: input)
    }

    static func process(_ arguments: [String]) -> (Process, Pipe) {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.standardOutput = output
        return (process, output)
    }

    /// Calls `body` with a new directory, and removes that afterwards.
    static func inDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("sqlitefile-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try body(directory)
    }

    /// A database made of SQL statements, one a line.
    static func withScript<Result>(
        _ sql: String, pageSize: Int = 4096, encoding: String = "UTF-8", _ body: (URL) throws -> Result
    ) throws -> Result {
        try inDirectory { directory in
            let path = directory.appendingPathComponent("database")
            try make(["script", path.path, String(pageSize), encoding], input: sql)
            return try body(path)
        }
    }

    /// Runs statements on a database that is there.
    static func execute(_ sql: String, at url: URL) throws { try Python.execute(sql, at: url.path) }

    static func bytes(_ url: URL) throws -> [UInt8] { [UInt8](try Data(contentsOf: url)) }

    static func dump(_ url: URL) throws -> String { try String(contentsOf: url.appendingPathExtension("dump"), encoding: .utf8) }

    /// A database in memory, with the files beside it.
    static func files(_ url: URL) throws -> MemoryFiles {
        func part(_ suffix: String) -> [UInt8]? { try? bytes(URL(fileURLWithPath: url.path + suffix)) }
        return MemoryFiles(path: url.lastPathComponent, main: try bytes(url), log: part("-wal"), journal: part("-journal"))
    }
}

/// The contents of a database as Scripts/databases.py writes them.
enum Dump {
    static func text(_ file: SQLiteFile) throws -> String {
        var lines: [String] = []
        for entry in file.schema.tables.sorted(by: { $0.name < $1.name }) {
            let table = try file.table(named: entry.name)
            try table.forEachRow { row in
                let values = try (0..<row.columnCount).map { try word(row, $0) }
                lines.append(([entry.name, table.hasRowids ? String(row.rowid) : "-"] + values).joined(separator: " "))
                return true
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    static func word(_ row: borrowing SQLiteRow, _ column: Int) throws -> String {
        switch try row.kind(column) {
        case .null: return "n"
        case .integer: return "i\(try #require(try row.integer(column)))"
        case .real:
            let digits = String(try #require(try row.real(column)).bitPattern, radix: 16)
            return "r" + String(repeating: "0", count: 16 - digits.count) + digits
        case .text: return "t" + hex(Array(try #require(try row.string(column)).utf8))
        case .blob: return "b" + hex(Array(try #require(try row.blob(column))))
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    static func hex(_ bytes: [UInt8]) -> String {
        // Without optimization an array for each byte took seconds of the suite.
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (place, byte) in bytes.enumerated() {
                (text[2 * place], text[2 * place + 1]) = (digits[Int(byte >> 4)], digits[Int(byte & 15)])
            }
            return 2 * bytes.count
        }
    }

    /// The first line in which two dumps differ, so that a failure's message is short.
    static func difference(_ left: String, _ right: String) -> String? {
        if left == right { return nil }
        let (ours, theirs) = (left.split(separator: "\n"), right.split(separator: "\n"))
        let index = zip(ours, theirs).enumerated().first { $1.0 != $1.1 }?.offset ?? min(ours.count, theirs.count)
        func line(_ lines: [Substring]) -> String { index < lines.count ? String(lines[index].prefix(200)) : "nothing" }
        return "line \(index + 1) of \(ours.count) and \(theirs.count): \(line(ours)) is not \(line(theirs))"
    }
}
