import Foundation
import Testing

@testable import HeartwoodSQLiteFile

@Suite(.enabled(if: Databases.canBeMade, Databases.needPython)) struct TreeTests {
    /// Rows and the bytes in each: trees of one to five pages' depth, with 512 bytes a page.
    static let shapes = [(1, 0), (20, 4), (300, 20), (5000, 90), (12000, 400), (40, 3000)]

    @Test(arguments: shapes)
    func `Scans, look-ups, ranges and counts agree in trees of every depth`(rows: Int, width: Int) throws {
        try Databases.inDirectory { directory in
            let path = directory.appendingPathComponent("deep").path
            try Databases.make(["deep", path, String(rows), String(width)])
            let file = try SQLiteFile.open(path: path)
            let table = try file.table(named: "T"), index = try file.index(named: "t_a")
            let rowids = (0..<rows).map { Int64(3 * $0 - rows) }
            func length(_ row: Int) -> Int { width + row % 7 }
            var seen: [Int64] = []
            try table.forEachRow { row in
                let text = try row.text(1)?.count, id = try row.integer(0)
                #expect(text == length(seen.count) && id == row.rowid)
                seen.append(row.rowid)
                return true
            }
            #expect(seen == rowids)
            #expect(try table.rowCount() == rows)
            #expect(try index.entryCount() == rows)
            #expect(try table.greatestRowid() == rowids.last)
            try Self.lookUp(table, rowids)
            try Self.scan(index, rows, width)
        }
    }

    private static func lookUp(_ table: SQLiteTable, _ rowids: [Int64]) throws {
        var cursor = try table.rows()
        let first = rowids[0], last = rowids[rowids.count - 1]
        for position in [0, rowids.count / 2, rowids.count - 1] + (0..<50).map({ $0 * 7919 % rowids.count }) {
            for distance in Int64(-1)...1 {
                let rowid = rowids[position] + distance
                #expect(try cursor.find(rowid) == (distance == 0))
                if distance == 0 { #expect(cursor.row.rowid == rowid) }
                // Behind a look-up the scan goes on.
                let next = rowids.dropFirst(position).first { distance == 0 ? $0 > rowid : $0 >= rowid }
                #expect(try cursor.next() == (next != nil))
                if let next { #expect(cursor.row.rowid == next) }
            }
        }
        try cursor.move(toAtLeast: .min)
        #expect(try cursor.next() && cursor.row.rowid == first)
        try cursor.move(toAtLeast: last)
        #expect(try cursor.next() && cursor.row.rowid == last)
        try cursor.move(toAtLeast: .max)
        #expect(try !cursor.next())
        #expect(try !cursor.next(), "a cursor stays at the end")
    }

    private static func scan(_ index: SQLiteIndex, _ rows: Int, _ width: Int) throws {
        var previous = "", entries: Set<Int64> = []
        var cursor = index.entries()
        while try cursor.next() {
            let text = try #require(try cursor.row.string(0))
            #expect(previous <= text)
            previous = text
            entries.insert(cursor.row.rowid)
        }
        #expect(entries.count == rows)
        for extra in 0..<7 {
            let expected = (0..<rows).filter { $0 % 7 == extra }.map { Int64(3 * $0 - rows) }
            var found: [Int64] = []
            try index.forEachEntry(equalTo: [.text(Array(String(repeating: "x", count: width + extra).utf8))]) { row in
                found.append(row.rowid)
                return true
            }
            #expect(found == expected)
        }
    }

    @Test
    func `A look-up reads one page for each level, and a second one of a neighbour none`() throws {
        try Databases.inDirectory { directory in
            let path = directory.appendingPathComponent("deep").path
            try Databases.make(["deep", path, "20000", "20"])
            let file = try SQLiteFile.open(path: path)
            let table = try file.table(named: "t")
            var cursor = try table.rows()
            let start = file.pages.pagesRead
            #expect(try cursor.find(-20000 + 3 * 9000))
            let depth = file.pages.pagesRead - start
            #expect((3...5).contains(depth))
            #expect(try cursor.find(-20000 + 3 * 9001))
            #expect(file.pages.pagesRead - start <= depth + 1)
            let before = file.pages.pagesRead
            _ = try cursor.find(-20000 + 3 * 9001)
            #expect(file.pages.pagesRead == before)
            // A scan reads each page of the tree once, and holds no more than its path.
            let all = try table.rowCount()
            #expect(all == 20000 && file.pages.pagesRead - before <= file.pageCount)
        }
    }

    @Test
    func `An access to a column in the page reads no overflow page`() throws {
        try Databases.withScript("CREATE TABLE t(a, b)\nINSERT INTO t VALUES (1, zeroblob(100000))") { url in
            let file = try SQLiteFile.open(path: url.path)
            var cursor = try file.table(named: "t").rows()
            #expect(try cursor.next())
            let before = file.pages.pagesRead
            #expect(try cursor.row.integer(0) == 1 && cursor.row.kind(1) == .blob)
            #expect(file.pages.pagesRead == before)
            #expect(try cursor.row.blob(1)?.count == 100000)
            let whole = file.pages.pagesRead - before
            #expect((24...25).contains(whole))
            #expect(try cursor.row.blob(1)?.allSatisfy { $0 == 0 } == true)
            #expect(file.pages.pagesRead == before + whole)
        }
    }

    static let encodings = ["UTF-8", "UTF-16le", "UTF-16be"]

    @Test(arguments: encodings)
    func `Ranges of an index are those of SQLite, over values of every type`(encoding: String) throws {
        let values = [
            "NULL", "-9223372036854775808", "-1", "0", "1", "2", "9007199254740993", "9223372036854775807", "-1e300", "-0.5", "0.0", "1.5",
            "9007199254740992.0", "9223372036854775808.0", "''", "'a'", "'aa'", "'b'", "'é'", "'😀'", "x''", "x'00'", "x'0000'", "x'ff'",
        ]
        var sql = ["CREATE TABLE t(a, b)", "CREATE INDEX up ON t(a, b)", "CREATE INDEX down ON t(a DESC, b)"]
        for value in values { for other in values { sql.append("INSERT INTO t VALUES (\(value), \(other))") } }
        try Databases.withScript(sql.joined(separator: "\n"), encoding: encoding) { url in
            let file = try SQLiteFile.open(path: url.path)
            let keys = try Self.keys(file, values)
            for name in ["up", "down"] {
                let index = try file.index(named: name)
                for (position, low) in keys.enumerated() {
                    let found = try Self.rowids(index, from: [low], through: [low])
                    // Only 0 and 0.0 are equal.
                    let equal = low == .integer(0) || low == .real(0) ? 2 : 1
                    #expect(found.count == values.count * equal, "\(name) \(values[position])")
                    #expect(found.contains(Int64(position * values.count + 1)))
                    for (second, other) in keys.enumerated() {
                        let pair = try Self.rowids(index, from: [low, other], through: [low, other])
                        #expect(pair.contains(Int64(position * values.count + second + 1)))
                    }
                }
            }
            // SQLite's own order decides about ranges.
            let index = try file.index(named: "up")
            let queries = values.dropFirst().map { "SELECT rowid FROM t WHERE a >= \($0) ORDER BY a, b, rowid" }
            let answers = try Databases.make(["query", url.path], input: queries.joined(separator: "\n")).components(separatedBy: "\n\n")
            for (query, key) in keys.dropFirst().enumerated() {
                let expected = answers[query].split(separator: "\n").map { Int64($0.dropFirst()) ?? 0 }
                #expect(try Self.rowids(index, from: [key], through: []) == expected, "from \(values[query + 1])")
            }
        }
    }

    /// The values as they are stored: row by row, each first one.
    private static func keys(_ file: SQLiteFile, _ values: [String]) throws -> [SQLiteValue] {
        var keys: [SQLiteValue] = []
        try file.table(named: "t").forEachRow { row in
            if (row.rowid - 1) % Int64(values.count) == 0 { keys.append(try row.value(0)) }
            return true
        }
        return keys
    }

    private static func rowids(_ index: SQLiteIndex, from lower: [SQLiteValue], through upper: [SQLiteValue]) throws -> [Int64] {
        var rowids: [Int64] = []
        try index.forEachEntry(from: lower, through: upper) { row in
            rowids.append(row.rowid)
            return true
        }
        return rowids
    }

    @Test
    func `Text in another collation is refused, and other values of that index are not`() throws {
        let sql = """
            CREATE TABLE t(a TEXT COLLATE NOCASE, b TEXT UNIQUE)
            CREATE INDEX t_a ON t(a)
            CREATE INDEX t_binary ON t(a COLLATE BINARY)
            INSERT INTO t VALUES ('x', 'y'), (NULL, 'z')
            """
        try Databases.withScript(sql) { url in
            let file = try SQLiteFile.open(path: url.path)
            let index = try file.index(named: "t_a"), key = [SQLiteValue.text(Array("x".utf8))]
            let error = #expect(throws: SQLiteFileError.self) { try index.forEachEntry(equalTo: key) { _ in true } }
            #expect(error?.code == .unsupported)
            #expect(try Self.rowids(index, from: [.null], through: [.null]) == [2])
            #expect(try Self.rowids(file.index(named: "t_binary"), from: key, through: key) == [1])
            let automatic = try file.index(named: "sqlite_autoindex_t_1")
            #expect(automatic.isUnique && automatic.columns.map(\.name) == ["b"])
            #expect(try Self.rowids(automatic, from: [.text(Array("z".utf8))], through: []) == [2])
        }
    }
}
