import Foundation
import Testing

@testable import HeartwoodSQLiteBuilder
@testable import HeartwoodSQLiteFile

/// Trees of every depth, in pages of every size.
@Suite struct ShapeTests {
    static let pageSizes = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]

    /// Makes a table `t(k, v)` with rowids 1, 2, … and blobs of this size, and an index over both columns.
    private static func build(_ path: String, _ pageSize: Int, rows: Int, blob: Int) throws {
        var options = SQLiteFileBuilder.Options()
        options.pageSize = pageSize
        let file = try SQLiteFileBuilder.create(path: path, options: options)
        let statement = "CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB)"
        let table = try file.table(named: "t", statement: statement, columns: 2, rowidColumn: 0)
        try file.index(
            named: "t_v", statement: "CREATE INDEX t_v ON t(v, k DESC)", on: table,
            columns: [SQLiteIndexColumn(1), SQLiteIndexColumn(0, isDescending: true)], isUnique: false)
        for row in 0..<rows { try table.append(Int64(row + 1), [.null, .blob(content(row, blob))]) }
        #expect(table.count == rows)
        try file.finish()
    }

    private static func content(_ row: Int, _ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: row * 89), count: count) }

    private static func check(_ path: String, _ pageSize: Int, rows: Int, blob: Int) throws {
        let comment: Comment = "\(rows) rows of \(blob) bytes in pages of \(pageSize)"
        let found = try BuiltFile.rows(path, "t")
        #expect(found.map(\.rowid) == (0..<rows).map { Int64($0 + 1) }, comment)
        #expect(found.map(\.values) == (0..<rows).map { [.integer(Int64($0 + 1)), .blob(content($0, blob))] }, comment)
        let expected = (0..<rows).sorted {
            let left = content($0, blob).first ?? 0, right = content($1, blob).first ?? 0
            return left != right ? left < right : $0 > $1
        }
        #expect(try BuiltFile.rowids(path, "t_v") == expected.map { Int64($0 + 1) }, comment)
    }

    private static func buildAndCheck(_ pageSize: Int, rows: [Int], blob: Int) throws {
        try BuiltFile.withPath { path in
            for rows in rows {
                try build("\(path)-\(rows)", pageSize, rows: rows, blob: blob)
                try check("\(path)-\(rows)", pageSize, rows: rows, blob: blob)
            }
            // One process for all files.
            let complaints = try BuiltFile.complaints(rows.map { "\(path)-\($0)" })
            #expect(complaints == "ok")
        }
    }

    @Test(arguments: pageSizes)
    func `No row, one, two, and as many as fill one leaf, two, and two levels, with one less and one more`(pageSize: Int) throws {
        // A cell: the sizes of the record and of the rowid, the record's header of 3 or 4 bytes, the blob, a pointer of two bytes.
        let blob = pageSize / 16
        let cell = 2 + (blob > 57 ? 4 : 3) + blob + 2 + (blob + 4 > 0x7f ? 1 : 0)
        let leaf = (pageSize - 8) / cell
        let rows = [0, 1, 2, leaf - 1, leaf, leaf + 1, 2 * leaf - 1, 2 * leaf, 2 * leaf + 1, 2 * leaf + 2, 3 * leaf]
        try Self.buildAndCheck(pageSize, rows: rows, blob: blob)
    }

    @Test
    func `Each count of rows up to five leaves, so that every end of a tree occurs`() throws {
        try Self.buildAndCheck(512, rows: Array(0..<60), blob: 40)
    }

    @Test
    func `Trees of three and four levels, at each count around the growth of a level`() throws {
        // An index's interior page takes few long entries: its tree gets a level every few dozen rows.
        try Self.buildAndCheck(512, rows: Array(100..<140), blob: 90)
        // A table's interior page of 512 bytes takes about sixty children.
        try Self.buildAndCheck(512, rows: Array(236..<262) + [4000], blob: 110)
        try Self.buildAndCheck(1024, rows: [30000], blob: 5)
    }

    @Test(arguments: pageSizes)
    func `Index trees of two to four levels, with the longest entries without overflow, in pages of every size`(pageSize: Int) throws {
        // The entry also has its header of up to six bytes, and the rowid twice. A page takes four such entries.
        let blob = PayloadLimits(pageSize: pageSize, isTable: false).localMax - 10
        try Self.buildAndCheck(pageSize, rows: Array(3...7) + Array(22...27) + [120, 127, 128], blob: blob)
    }

    @Test(arguments: pageSizes)
    func `Records of each size around the limits of their pages, in a table and in an index`(pageSize: Int) throws {
        let table = PayloadLimits(pageSize: pageSize, isTable: true), index = PayloadLimits(pageSize: pageSize, isTable: false)
        let overflow = pageSize - 4
        var sizes: Set<Int> = [0, 1]
        for limit in [table.localMin, table.localMax, index.localMin, index.localMax] {
            for pages in [0, 1, 2] { sizes.formUnion((-8...2).map { limit + pages * overflow + $0 }) }
        }
        let blobs = sizes.filter { $0 >= 0 }.sorted()
        try BuiltFile.withPath { path in
            var options = SQLiteFileBuilder.Options()
            options.pageSize = pageSize
            let file = try SQLiteFileBuilder.create(path: path, options: options)
            let table = try file.table(named: "t", statement: "CREATE TABLE t(v)", columns: 1, rowidColumn: nil)
            let columns = [SQLiteIndexColumn(0, isDescending: true)]
            try file.index(named: "t_v", statement: "CREATE UNIQUE INDEX t_v ON t(v DESC)", on: table, columns: columns, isUnique: true)
            for (row, count) in blobs.enumerated() { try table.append(Int64(row), [.blob(Self.content(1, count))]) }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            #expect(try BuiltFile.rows(path, "t").map(\.values) == blobs.map { [.blob(Self.content(1, $0))] })
            #expect(try BuiltFile.rowids(path, "t_v") == blobs.indices.reversed().map(Int64.init))
        }
    }

    @Test
    func `A table may have any rowids that rise, with numbers of one to nine bytes`() throws {
        var rowids: [Int64] = [.min, .min + 1, -1, 0, 1]
        for bits in stride(from: 7, through: 56, by: 7) { rowids += [(1 << bits) - 1, 1 << bits] }
        rowids += [.max - 1, .max]
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a, k INTEGER PRIMARY KEY)", columns: 2, rowidColumn: 1)
            try file.index(
                named: "t_k", statement: "CREATE INDEX t_k ON t(k)", on: table, columns: [SQLiteIndexColumn(1)], isUnique: true)
            try file.index(
                named: "t_a", statement: "CREATE INDEX t_a ON t(a)", on: table, columns: [SQLiteIndexColumn(0)], isUnique: false)
            for rowid in rowids { try table.append(rowid, [.text("x"), .integer(5)]) }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            #expect(try BuiltFile.rows(path, "t").map(\.rowid) == rowids)
            #expect(try BuiltFile.rows(path, "t").map(\.values) == rowids.map { [.text("x"), .integer($0)] })
            #expect(try BuiltFile.rowids(path, "t_k") == rowids)
            #expect(try BuiltFile.rowids(path, "t_a") == rowids)
        }
    }

    @Test
    func `A row that does not rise is refused, and rows behind it are not`() throws {
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a)", columns: 1, rowidColumn: nil)
            try table.append(-5, [.integer(1)])
            for rowid in [Int64.min, -6, -5] {
                let error = #expect(throws: SQLiteBuildError.self) { try table.append(rowid, [.integer(2)]) }
                #expect(error?.code == .rowidOrder)
            }
            struct Stop: Error {}
            #expect(throws: Stop.self) { try table.append(rowid: 3) { _ in throw Stop() } }
            try table.append(-4, [.integer(3)])
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            #expect(try BuiltFile.rows(path, "t").map(\.values) == [[.integer(1)], [.integer(3)]])
        }
    }

    @Test
    func `Rows of several tables come in turns`() throws {
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let tables = try (0..<5).map { number in
                let table = try file.table(named: "t\(number)", statement: "CREATE TABLE t\(number)(a, b)", columns: 2, rowidColumn: nil)
                try file.index(
                    named: "i\(number)", statement: "CREATE INDEX i\(number) ON t\(number)(b, a)", on: table,
                    columns: [SQLiteIndexColumn(1), SQLiteIndexColumn(0)], isUnique: false)
                return table
            }
            func values(_ number: Int, _ row: Int) -> [Value] {
                [.integer(Int64(row * number)), .text(String(repeating: "é", count: row * (number + 1) % 3000))]
            }
            for row in 0..<500 {
                for number in 0..<5 where row % (number + 1) == 0 { try tables[number].append(Int64(row), values(number, row)) }
            }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            for number in 0..<5 {
                let expected = stride(from: 0, to: 500, by: number + 1).map { values(number, $0) }
                #expect(try BuiltFile.rows(path, "t\(number)").map(\.values) == expected)
            }
        }
    }
}
