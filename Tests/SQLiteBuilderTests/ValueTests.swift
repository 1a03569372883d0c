import Foundation
import Testing

@testable import HeartwoodSQLiteBuilder
@testable import HeartwoodSQLiteFile

/// Values of every kind beside each other, and the bytes that SQLite makes of them.
@Suite struct ValueTests {
    static let integers: [Int64] = {
        var list: [Int64] = [0, 1, 2, -1, .max, .min, .max - 1, .min + 1]
        for bits in [7, 8, 15, 16, 23, 24, 31, 32, 39, 47, 48, 53, 55, 63] as [Int64] {
            let power = bits == 63 ? Int64.max : 1 << bits
            list += [power - 1, power, -power, -power - 1, 1 - power]
        }
        return list
    }()
    static let reals: [Double] = [
        0, -0.0, 1, -1, 0.5, -2.75, 1e300, -1e300, 1e-300, .infinity, -.infinity, 0x1p53, 0x1p53 + 2, 0x1p47, 0x1p47 - 1, -0x1p47, 0x1p63, -0x1p63,
        0x1p62, 9.3e18, 127, 128, 599_616_000, 599_616_000.25,
    ]
    static let texts = [
        "", "a", "ab", "é", "😀", "0", "1.5", "null\0inside", String(repeating: "x", count: 56), String(repeating: "long ", count: 40),
    ]
    static let blobs: [[UInt8]] = [[], [0], [0, 0], [255], Array("a".utf8), [UInt8](repeating: 7, count: 57), [UInt8](repeating: 8, count: 200)]
    static let all: [Value] =
        [.null] + integers.map(Value.integer) + reals.map(Value.real) + texts.map(Value.text) + blobs.map(Value.blob)

    /// The types that Core Data declares, and those of each affinity.
    static let types = ["", "BLOB", "INTEGER", "FLOAT", "DECIMAL", "TIMESTAMP", "REAL", "NUMERIC", "DOUBLE PRECISION", "BIGINT", "BOOLEAN"]

    private static func literal(_ value: Value) -> String {
        switch value {
        case .null: return "NULL"
        case .integer(let value): return value == .min ? "(-9223372036854775807 - 1)" : String(value)
        case .real(let value):
            let digits = String(value.bitPattern, radix: 16)
            return "real('\(String(repeating: "0", count: 16 - digits.count))\(digits)')"
        case .text(let text): return "CAST(x'\(hex(Array(text.utf8)))' AS TEXT)"
        case .blob(let bytes): return "x'\(hex(bytes))'"
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Numbers in text columns, and texts in number columns, change in SQLite. The builder writes what it is given.
    private static func values(_ type: String) -> [Value] {
        let affinity = ColumnAffinity(type: type)
        return all.filter { value in
            if case .text(let text) = value { return affinity == .blob || Double(text) == nil }
            return true
        }
    }

    @Test(.enabled(if: BuiltFile.canBeChecked, BuiltFile.needPython), arguments: types)
    func `The pages of a table and an index have SQLite's bytes, for each value in a column of each type`(type: String) throws {
        let values = Self.values(type)
        let statement = "CREATE TABLE t(k INTEGER PRIMARY KEY, v \(type), w TEXT)", index = "CREATE INDEX t_v ON t(v, w DESC)"
        try BuiltFile.withPath { path in
            let theirs = path + ".theirs"
            var sql = ["PRAGMA page_size = 65536", statement, "BEGIN"]
            for (row, value) in values.enumerated() {
                sql.append("INSERT INTO t VALUES (\(row * 3 - 50), \(Self.literal(value)), 'w\(row % 7)')")
            }
            sql += ["COMMIT", index]
            try BuiltFile.run([BuiltFile.script, "make", theirs], input: sql.joined(separator: "\n"))

            var options = SQLiteFileBuilder.Options()
            options.pageSize = 65536
            let file = try SQLiteFileBuilder.create(path: path, options: options)
            let table = try file.table(named: "t", statement: statement, columns: 3, rowidColumn: 0)
            let columns = [SQLiteIndexColumn(1), SQLiteIndexColumn(2, isDescending: true)]
            try file.index(named: "t_v", statement: index, on: table, columns: columns, isUnique: false)
            for (row, value) in values.enumerated() { try table.append(Int64(row * 3 - 50), [.null, value, .text("w\(row % 7)")]) }
            try file.finish()

            #expect(try BuiltFile.complaints(path) == "ok")
            let statements = "SELECT k, typeof(v), quote(v), w FROM t\nSELECT k FROM t INDEXED BY t_v ORDER BY v, w DESC, k"
            let ours = try BuiltFile.run([BuiltFile.script, "query", path], input: statements)
            #expect(ours == (try BuiltFile.run([BuiltFile.script, "query", theirs], input: statements)))
            let (own, other) = (try Data(contentsOf: URL(fileURLWithPath: path)), try Data(contentsOf: URL(fileURLWithPath: theirs)))
            #expect(own.count == other.count && own.count == 3 * 65536)
            #expect(Self.difference(own, other, page: 2) == nil, "the table's leaf")
            if ColumnAffinity(type: type) == .blob { #expect(Self.difference(own, other, page: 3) == nil, "the index's leaf") }
        }
    }

    /// The first byte of a page in which two files differ.
    private static func difference(_ left: Data, _ right: Data, page: Int) -> Int? {
        let range = (page - 1) * 65536..<page * 65536
        guard range.upperBound <= min(left.count, right.count) else { return range.lowerBound }
        return range.first { left[$0] != right[$0] }.map { $0 - range.lowerBound }
    }

    @Test
    func `Each value beside each other comes back by the reader`() throws {
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a, b, c)", columns: 3, rowidColumn: nil)
            var rows: [[Value]] = []
            for first in Self.all { for second in Self.all { rows.append([first, second, first]) } }
            for (row, values) in rows.enumerated() { try table.append(Int64(row), values) }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            #expect(try BuiltFile.rows(path, "t").map(\.values) == rows)
        }
    }

    @Test
    func `Columns without a value are NULL, and so is a number that is none`() throws {
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a REAL, k INTEGER PRIMARY KEY, b, c)", columns: 4, rowidColumn: 1)
            let columns = [SQLiteIndexColumn(3), SQLiteIndexColumn(1)]
            try file.index(named: "t_c", statement: "CREATE INDEX t_c ON t(c, k)", on: table, columns: columns, isUnique: false)
            try table.append(1, [])
            try table.append(2, [.real(.nan)])
            try table.append(3, [.real(-.nan), .text("x"), .null])
            try table.append(4, [.real(.signalingNaN), .blob([1]), .integer(7), .text("c")])
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            let expected: [[Value]] = [
                [.null, .integer(1), .null, .null], [.null, .integer(2), .null, .null], [.null, .integer(3), .null, .null],
                [.null, .integer(4), .integer(7), .text("c")],
            ]
            #expect(try BuiltFile.rows(path, "t").map(\.values) == expected)
        }
    }

    @Test(arguments: [1, 2, 125, 126, 127, 128, 129, 700, 2000])
    func `Records have headers of one and two bytes of size, at each count of columns around the change`(columns: Int) throws {
        let statement = "CREATE TABLE t(" + (0..<columns).map { "c\($0)" }.joined(separator: ", ") + ")"
        let rows: [[Value]] = [
            [], [Value](repeating: .integer(1), count: columns), (0..<columns).map { .integer(Int64($0)) },
            (0..<columns).map { .text(String(repeating: "x", count: $0 % 90)) }, [Value](repeating: .null, count: columns - 1) + [.blob([1, 2])],
        ]
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let table = try file.table(named: "t", statement: statement, columns: columns, rowidColumn: nil)
            let keys = (0..<min(columns, 1999)).map { SQLiteIndexColumn($0) }
            let index = "CREATE INDEX i ON t(" + keys.indices.map { "c\($0)" }.joined(separator: ", ") + ")"
            try file.index(named: "i", statement: index, on: table, columns: keys, isUnique: false)
            for (row, values) in rows.enumerated() { try table.append(Int64(row), values) }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            let expected = rows.map { $0 + [Value](repeating: .null, count: columns - $0.count) }
            #expect(try BuiltFile.rows(path, "t").map(\.values) == expected)
        }
    }

    @Test
    func `Texts and blobs of many MiB fill chains of overflow pages`() throws {
        let lengths = [1 << 16, (1 << 20) + 1, 5 << 20]
        let rows: [[Value]] = lengths.map { length in
            [.text(String(repeating: "0123456789abcdef", count: length / 16)), .blob([UInt8](repeating: 3, count: length))]
        }
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a TEXT, b BLOB)", columns: 2, rowidColumn: nil)
            let columns = [SQLiteIndexColumn(0), SQLiteIndexColumn(1)]
            try file.index(named: "t_ab", statement: "CREATE UNIQUE INDEX t_ab ON t(a, b)", on: table, columns: columns, isUnique: true)
            for (row, values) in rows.enumerated() { try table.append(Int64(row), values) }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            #expect(try BuiltFile.rows(path, "t").map(\.values) == rows)
        }
    }

    @Test
    func `The affinities of a statement's columns are those that the reader finds`() throws {
        let definitions = [
            "a", "a INTEGER", "\"a b\" VARCHAR(20)", "[x,(y] FLOAT", "`q``r` DOUBLE PRECISION NOT NULL", "'s' \"INT\"",
            "n NUMERIC(10, 2) DEFAULT (1, 2)", "d DATE CHECK (d > ')')", "c CHARINT", "p FLOATING POINT", "b BLOB",
            "r REAL PRIMARY KEY", "t TEXT COLLATE NOCASE", "z TIMESTAMP UNIQUE",
            "e STRING REFERENCES other(x)", "é TEXT", "primary_key INTEGER", "\"CONSTRAINT\" REAL",
        ]
        for first in definitions {
            for second in definitions where second != first {
                let constraints = "UNIQUE (a), CONSTRAINT x CHECK (1), FOREIGN KEY (a) REFERENCES b(c)"
                let sql = "CREATE TABLE IF NOT EXISTS \"t (u\"(\(first), \(second), \(constraints))"
                let reader = try #require(TableParser.parse(sql, encoding: .utf8))
                let expected = reader.columns.map { "\(reader.affinity($0))" }
                #expect(ColumnAffinity.list(sql).map { "\($0)" } == expected, "\(sql)")
            }
        }
        #expect(ColumnAffinity.list("") == [])
        #expect(ColumnAffinity.list("CREATE TABLE t") == [])
        #expect(ColumnAffinity.list("CREATE TABLE t(a") == [])
        #expect(ColumnAffinity.list("CREATE TABLE t(\"a") == [])
    }
}
