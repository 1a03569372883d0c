import Foundation
import HeartwoodTestSupport
import Testing

@testable import HeartwoodSQLiteBuilder
@testable import HeartwoodSQLiteFile

/// A value that a test writes.
enum Value: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    func write(to writer: inout SQLiteRecordWriter) {
        switch self {
        case .null: writer.null()
        case .integer(let value): writer.integer(value)
        case .real(let value): writer.real(value)
        case .text(let value): writer.text(value)
        case .blob(let bytes): bytes.withUnsafeBytes { writer.blob($0) }
        }
    }

    /// As the reader gives it.
    init(_ value: SQLiteValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes): self = .blob(bytes)
        }
    }

    /// As SQL writes it, for a message.
    var sql: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value.count > 40 ? "text of \(value.utf8.count)" : "'\(value)'"
        case .blob(let bytes): "blob of \(bytes.count)"
        }
    }
}

extension SQLiteTableBuilder {
    func append(_ rowid: Int64, _ values: [Value]) throws {
        try append(rowid: rowid) { writer in
            for value in values { value.write(to: &writer) }
        }
    }
}

/// Files that a test builds, and checks of them by other programs.
enum BuiltFile {
    static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Scripts/check.py").path
    /// Whether there is a Python with SQLite. Without it only the reader of this package checks a file.
    static let canBeChecked = Python.hasSQLite
    static let needPython: Comment = "needs python3 with its module sqlite3"

    /// Calls `body` with a path in a new folder, and removes the folder afterwards.
    static func withPath<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sqlitebuilder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.appendingPathComponent("built.sqlite").path)
    }

    static func names(beside path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent)
    }

    /// SQLite's complaints about files, or "ok". Without Python it is always "ok".
    static func complaints(_ paths: String...) throws -> String { try complaints(paths) }

    static func complaints(_ paths: [String]) throws -> String {
        canBeChecked ? try run([script, "check"] + paths) : "ok"
    }

    /// - Returns: the script's output.
    @discardableResult
    static func run(_ arguments: [String], input: String = "") throws -> String {
        try Python.run(arguments, input: input)
    }

    /// The rows of a table by the reader of this package.
    static func rows(_ path: String, _ table: String) throws -> [(rowid: Int64, values: [Value])] {
        let file = try SQLiteFile.open(path: path)
        var rows: [(Int64, [Value])] = []
        try file.table(named: table).forEachRow { row in
            rows.append((row.rowid, try (0..<row.columnCount).map { Value(try row.value($0)) }))
            return true
        }
        return rows
    }

    /// The rowids of an index's entries in its order, by the reader of this package.
    static func rowids(_ path: String, _ index: String) throws -> [Int64] {
        let file = try SQLiteFile.open(path: path)
        var cursor = try file.index(named: index).entries(), rowids: [Int64] = []
        while try cursor.next() { rowids.append(cursor.row.rowid) }
        return rowids
    }
}
