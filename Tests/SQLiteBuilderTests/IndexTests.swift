import Foundation
import Testing

@testable import HeartwoodSQLiteBuilder
@testable import HeartwoodSQLiteFile

/// Indexes: their order, their sorts in memory and beyond it, and unique ones.
@Suite struct IndexTests {
    /// The bytes of entries in memory, and the runs that are merged at once.
    static let sorts = [(16 << 20, 64), (4096, 64), (4096, 2), (20000, 3), (0, 2)]

    static let values: [Value] = [
        .null, .integer(.min), .integer(-1), .integer(0), .integer(1), .integer(1 << 53), .integer(1 << 53 + 1), .integer(.max), .real(-0x1p63),
        .real(-1.5), .real(-0.0), .real(0), .real(1), .real(0x1p53), .real(0x1p63), .real(.infinity), .real(-.infinity), .text(""), .text("a"),
        .text("aa"), .text("abcdefg"), .text("abcdefgh"), .text("abcdefgi"), .text("b"), .text("é"), .text("😀"),
        .text(String(repeating: "abcdefg", count: 60)), .text(String(repeating: "abcdefg", count: 60) + "x"), .blob([]), .blob([0]), .blob([0, 0]),
        .blob([255]), .blob([UInt8](repeating: 9, count: 3000)),
    ]

    private static func make(_ path: String, _ sort: (Int, Int), pageSize: Int = 1024) throws -> SQLiteFileBuilder {
        var options = SQLiteFileBuilder.Options()
        options.pageSize = pageSize
        return try SQLiteFileBuilder(path: path, options: options, files: POSIXBuildFiles(), sortMemory: sort.0, fanIn: sort.1)
    }

    /// Indexes over both columns in each direction, over one of them, and over the rowid between them.
    private static func addIndexes(_ file: SQLiteFileBuilder, _ table: SQLiteTableBuilder) throws {
        for (first, second) in [(false, false), (false, true), (true, false), (true, true)] {
            let name = "i\(first ? "down" : "up")\(second ? "down" : "up")"
            let sql = "CREATE INDEX \(name) ON t(a\(first ? " DESC" : ""), b\(second ? " DESC" : ""))"
            let columns = [SQLiteIndexColumn(0, isDescending: first), SQLiteIndexColumn(1, isDescending: second)]
            try file.index(named: name, statement: sql, on: table, columns: columns, isUnique: false)
        }
        try file.index(named: "i_b", statement: "CREATE INDEX i_b ON t(b)", on: table, columns: [SQLiteIndexColumn(1)], isUnique: false)
        let columns = [SQLiteIndexColumn(1), SQLiteIndexColumn(nil, isDescending: true), SQLiteIndexColumn(0)]
        try file.index(named: "i_k", statement: "CREATE UNIQUE INDEX i_k ON t(b, k DESC, a)", on: table, columns: columns, isUnique: true)
    }

    private static func check(_ path: String, _ rows: [(Int64, [Value])]) throws {
        #expect(try BuiltFile.complaints(path) == "ok")
        #expect(try BuiltFile.names(beside: path) == ["built.sqlite"], "no temporary file stays")
        let found = try BuiltFile.rows(path, "t")
        #expect(found.map(\.rowid) == rows.map(\.0))
        #expect(found.map { Array($0.values.prefix(2)) } == rows.map(\.1))
        for name in ["iupup", "idownup", "iupdown", "idowndown", "i_b", "i_k"] {
            #expect(try BuiltFile.rowids(path, name).sorted() == rows.map(\.0).sorted(), "\(name)")
        }
    }

    @Test(arguments: sorts)
    func `Each two values beside each other are in SQLite's order, by sorts in memory and beyond`(memory: Int, fanIn: Int) throws {
        var rows: [(Int64, [Value])] = []
        for first in Self.values { for second in Self.values { rows.append((Int64(rows.count * 3 - 100), [first, second])) } }
        try BuiltFile.withPath { path in
            let file = try Self.make(path, (memory, fanIn))
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a, b, k INTEGER PRIMARY KEY)", columns: 3, rowidColumn: 2)
            try Self.addIndexes(file, table)
            for (rowid, values) in rows { try table.append(rowid, values) }
            try file.finish()
            try Self.check(path, rows)
        }
    }

    @Test(arguments: sorts)
    func `Random rows are in SQLite's order, by sorts in memory and beyond`(memory: Int, fanIn: Int) throws {
        let seed = UInt64.random(in: 1 ... .max)
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        func value() -> Value {
            switch random(6) {
            case 0: return Self.values[random(Self.values.count)]
            case 1: return .integer(Int64(random(50)) - 25)
            case 2: return .real(Double(random(200)) / 4 - 25)
            case 3: return .text(String(repeating: "k", count: random(20)) + String(random(1000)))
            case 4: return .blob((0..<random(30)).map { _ in UInt8(random(3)) })
            default: return .integer(Int64(random(1 << 30)) << Int64(random(33)))
            }
        }
        let rows = (0..<2500).map { (Int64($0), [value(), value()]) }
        try BuiltFile.withPath { path in
            let file = try Self.make(path, (memory, fanIn), pageSize: 512)
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a, b, k INTEGER PRIMARY KEY)", columns: 3, rowidColumn: 2)
            try Self.addIndexes(file, table)
            for (rowid, values) in rows { try table.append(rowid, values) }
            try file.finish()
            try withKnownSeed(seed) { try Self.check(path, rows) }
        }
    }

    private func withKnownSeed(_ seed: UInt64, _ body: () throws -> Void) throws {
        do { try body() } catch {
            Issue.record("seed \(seed)")
            throw error
        }
    }

    @Test(arguments: sorts)
    func `A unique index with two equal keys is refused, with its name and the rows, and the file is removed`(memory: Int, fanIn: Int) throws {
        let pairs: [(Value, Value)] = [
            (.integer(7), .integer(7)), (.integer(1), .real(1)), (.real(0), .real(-0.0)), (.text(""), .text("")), (.blob([1]), .blob([1])),
            (.text(String(repeating: "z", count: 5000)), .text(String(repeating: "z", count: 5000))),
        ]
        for (first, second) in pairs {
            for distance in [1, 300] {
                try BuiltFile.withPath { path in
                    let file = try Self.make(path, (memory, fanIn))
                    let table = try file.table(named: "People", statement: "CREATE TABLE People(a, b)", columns: 2, rowidColumn: nil)
                    let columns = [SQLiteIndexColumn(0, isDescending: true), SQLiteIndexColumn(1)]
                    let sql = "CREATE UNIQUE INDEX People_a ON People(a DESC, b)"
                    try file.index(named: "People_a", statement: sql, on: table, columns: columns, isUnique: true)
                    try table.append(-9, [first, .text("b")])
                    for row in 0..<distance { try table.append(Int64(row), [.text("other \(row)"), .text("b")]) }
                    try table.append(1000, [second, .text("b")])
                    let error = #expect(throws: SQLiteBuildError.self) { try file.finish() }
                    #expect(error?.code == .duplicateKey)
                    #expect(error?.duplicate == .init(index: "People_a", table: "People", first: -9, second: 1000))
                    #expect(error?.description.contains("the rows -9 and 1000 of People have equal values in the unique index People_a") == true)
                    #expect(try BuiltFile.names(beside: path).isEmpty)
                }
            }
        }
    }

    @Test
    func `A unique index has any number of NULLs, and keys that differ in kind or in one column`() throws {
        try BuiltFile.withPath { path in
            let file = try Self.make(path, (4096, 2))
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a, b)", columns: 2, rowidColumn: nil)
            let columns = [SQLiteIndexColumn(0), SQLiteIndexColumn(1)]
            try file.index(named: "u", statement: "CREATE UNIQUE INDEX u ON t(a, b)", on: table, columns: columns, isUnique: true)
            let rows: [[Value]] = [
                [.null, .null], [.null, .integer(1)], [.integer(1), .null], [.integer(1), .integer(1)], [.integer(1), .integer(2)],
                [.text("1"), .integer(1)], [.blob([0x31]), .integer(1)],
            ]
            var rowid: Int64 = 0
            for round in 0..<100 {
                for row in rows where round == 0 || row.contains(.null) {
                    try table.append(rowid, row)
                    rowid += 1
                }
            }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            #expect(try BuiltFile.rowids(path, "u").count == Int(rowid))
        }
    }

    @Test
    func `An entry that is longer than the memory of all sorts is sorted with the others`() throws {
        try BuiltFile.withPath { path in
            let file = try Self.make(path, (30000, 2))
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a TEXT)", columns: 1, rowidColumn: nil)
            try file.index(named: "i", statement: "CREATE UNIQUE INDEX i ON t(a)", on: table, columns: [SQLiteIndexColumn(0)], isUnique: true)
            let texts = (0..<60).map { row in String(repeating: "m", count: row % 7 == 0 ? 300_000 + row : row) + String(row % 10) + "\(row)" }
            for (row, text) in texts.enumerated() { try table.append(Int64(row), [.text(text)]) }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            let order = texts.indices.sorted { Array(texts[$0].utf8).lexicographicallyPrecedes(Array(texts[$1].utf8)) }
            #expect(try BuiltFile.rowids(path, "i") == order.map(Int64.init))
        }
    }

    @Test(arguments: [false, true])
    func `A number and its prefix are in the same order`(isDescending: Bool) {
        let order = EntryOrder(descending: [isDescending])
        let record = RecordBuffer(), layout = RecordLayout(affinities: [.blob, .blob], rowidColumn: nil)
        record.reserve(columns: 2)
        let entries = (Self.values + ValueTests.all).enumerated().map { row, value -> [UInt8] in
            record.begin(layout)
            var writer = SQLiteRecordWriter(record)
            value.write(to: &writer)
            writer.integer(Int64(row))
            return record.finish().map { Array($0) } ?? []
        }
        for left in entries {
            for right in entries {
                left.withUnsafeBytes { left in
                    right.withUnsafeBytes { right in
                        guard let left = left.baseAddress, let right = right.baseAddress else { return }
                        let result = order.compare(left, right)
                        if result < 0 { #expect(order.prefix(left) <= order.prefix(right)) }
                        #expect(result.signum() == -order.compare(right, left).signum())
                    }
                }
            }
        }
    }
}
