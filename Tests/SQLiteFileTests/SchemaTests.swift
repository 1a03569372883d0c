import Foundation
import Testing

@testable import HeartwoodSQLiteFile

@Suite struct SchemaTests {
    private func parse(_ sql: String) throws -> TableDefinition { try #require(TableParser.parse(sql, encoding: .utf8), "\(sql)") }

    private func names(_ sql: String) throws -> [String] { try parse(sql).columns.map(\.name) }

    @Test
    func `Names are read in every kind of quotes, between comments`() throws {
        let quoted = "CREATE TABLE \"a(b\" (\"x y\", [z,], `q``r`, 'it''s', \"d\"\"e\", ü1, $x)"
        #expect(try names(quoted) == ["x y", "z,", "q`r", "it's", "d\"e", "ü1", "$x"])
        #expect(try names("CREATE TABLE t -- (no\n(a /* , b */, c -- d\n)") == ["a", "c"])
        #expect(try names("create temp table if not exists main.t(a,b)") == ["a", "b"])
    }

    @Test
    func `Types end where constraints begin`() throws {
        let table = try parse(
            """
            CREATE TABLE t(a, b VARCHAR(10, 2) NOT NULL, c unsigned big int DEFAULT 1, d "NOT NULL", e CHECK (e > (1)),
            f INTEGER GENERATED ALWAYS AS (a), g TEXT AS (a || ')') STORED,
            h DOUBLE PRECISION REFERENCES u(x) ON DELETE SET DEFAULT ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED UNIQUE)
            """)
        let types = ["", "VARCHAR(10, 2)", "unsigned big int", "\"NOT NULL\"", "", "INTEGER", "TEXT", "DOUBLE PRECISION"]
        #expect(table.columns.map(\.declaredType) == types)
        #expect(table.columns.map(\.storage) == [.stored, .stored, .stored, .stored, .stored, .virtual, .stored, .stored])
        #expect(table.columns[2].missing == .literal(.integer(1)))
        #expect(table.columns[7].missing == .literal(.null))
        #expect(table.keys.map { $0.columns.map(\.name) } == [["h"]])
    }

    @Test(
        arguments: [
            ("a INTEGER PRIMARY KEY", 0), ("a INTEGER PRIMARY KEY ASC", 0), ("a INTEGER PRIMARY KEY DESC", nil), ("a INT PRIMARY KEY", nil),
            ("b, a integer, PRIMARY KEY(a DESC)", 1), ("a INTEGER, b, PRIMARY KEY(a, b)", nil), ("a INTEGER, PRIMARY KEY(\"A\")", 0),
            ("a INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL", 0), ("a INTEGER CONSTRAINT x PRIMARY KEY ON CONFLICT ROLLBACK, b", 0),
        ] as [(String, Int?)])
    func `Only a single INTEGER key is another name of the rowid`(columns: String, rowid: Int?) throws {
        #expect(try parse("CREATE TABLE t(\(columns))").rowidColumn == rowid)
        #expect(try parse("CREATE TABLE t(\(columns), PRIMARY KEY(a)) WITHOUT ROWID").rowidColumn == nil)
    }

    @Test
    func `Automatic indexes belong to the keys in their order`() throws {
        let table = try parse(
            """
            CREATE TABLE t(a UNIQUE, b INTEGER PRIMARY KEY, c COLLATE NOCASE, UNIQUE(a), UNIQUE(c, a COLLATE rtrim DESC) UNIQUE(c COLLATE BINARY))
            """)
        #expect(table.keys.map { $0.columns.map { "\($0.name ?? "?") \($0.collation)\($0.isDescending ? " DESC" : "")" } }
            == [["a BINARY"], ["c NOCASE", "a rtrim DESC"], ["c BINARY"]])
    }

    @Test
    func `A statement that is no CREATE TABLE gives nothing, and no bytes make the parser hang`() throws {
        let statement = "CREATE TABLE t(a INTEGER DEFAULT (1+(2)), \"b\" TEXT CHECK(b IN ('x', 'y')), UNIQUE(a, b)) WITHOUT ROWID"
        for end in 0..<statement.utf8.count - 14 {
            #expect(TableParser.parse(String(decoding: Array(statement.utf8)[..<end], as: UTF8.self), encoding: .utf8) == nil)
        }
        for sql in ["CREATE TABLE t()", "CREATE TABLE t(a,)", "CREATE VIEW v AS SELECT 1", "CREATE TABLE t(a) WITHOUT ROWID"] {
            #expect(TableParser.parse(sql, encoding: .utf8) == nil, "\(sql)")
        }
        let clock = ContinuousClock(), start = clock.now
        for part in ["(", "1e+", "UNIQUE(a", "a,", "'", "x'", "[", "/*", "DEFAULT -", "\"\"\""] {
            _ = TableParser.parse("CREATE TABLE t(a " + String(repeating: part, count: (1 << 17) / part.utf8.count), encoding: .utf8)
        }
        #expect(clock.now - start < .seconds(30))
    }

    @Test(.enabled(if: Databases.canBeMade, Databases.needPython))
    func `Columns, keys and defaults are those that SQLite has`() throws {
        let tables = [
            "CREATE TABLE t0(a INTEGER PRIMARY KEY, b VARCHAR(3) DEFAULT 'x', c DEFAULT -1.5, d AS (b), e INT AS (a) STORED, f BLOB)",
            "CREATE TABLE t1(a TEXT, b REAL, c, PRIMARY KEY(b, a)) WITHOUT ROWID",
            "CREATE TABLE t2('a b' TEXT UNIQUE, [c d] DECIMAL(10,5), `e` TIMESTAMP, \"f\"\"g\" ANY, UNIQUE(e, [c d]))",
            "CREATE TABLE t3(a INTEGER, b ANY, c REAL, PRIMARY KEY(a)) STRICT",
            "CREATE TABLE t4(a TEXT REFERENCES t2 ON DELETE CASCADE, b CHECK(b > 0) NOT NULL, FOREIGN KEY(b) REFERENCES t0(a) ON UPDATE SET NULL)",
        ]
        let queries = (0..<tables.count).map { "SELECT name, type, hidden FROM pragma_table_xinfo('t\($0)') ORDER BY cid" }
        let columns = "(SELECT group_concat(name, '|') FROM pragma_index_info(m.name))"
        let names = "SELECT m.name, \(columns) FROM sqlite_schema m WHERE type = 'index' ORDER BY 1"
        try Databases.withScript(tables.joined(separator: "\n")) { url in
            let file = try SQLiteFile.open(path: url.path)
            let output = try Databases.make(["query", url.path], input: (queries + [names]).joined(separator: "\n"))
            let answers = output.components(separatedBy: "\n\n")
            for index in tables.indices {
                let table = try file.table(named: "t\(index)")
                let lines = table.columns.map { column in
                    let hidden = column.isStored ? (column.name == "e" && index == 0 ? 3 : 0) : 2
                    return "t\(Dump.hex(Array(column.name.utf8))) t\(Dump.hex(Array(column.declaredType.utf8))) i\(hidden)"
                }
                #expect(lines == answers[index].split(separator: "\n").map(String.init))
            }
            let indexes = try file.schema.entries.filter { $0.kind == .index }.map { try file.index(named: $0.name) }.sorted { $0.name < $1.name }
            let lines = indexes.map { index in
                let columns = index.columns.compactMap(\.name).joined(separator: "|")
                return "t\(Dump.hex(Array(index.name.utf8))) t\(Dump.hex(Array(columns.utf8)))"
            }
            #expect(lines.count == 2 && lines == answers[tables.count].split(separator: "\n").map(String.init))
        }
    }

    /// Tables of every kind, with rows that are older than some of their columns.
    private static let everyKind = """
        CREATE TABLE old(a, b TEXT)
        INSERT INTO old VALUES (1, 'x'), (2, NULL)
        ALTER TABLE old ADD COLUMN c
        ALTER TABLE old ADD COLUMN d TEXT DEFAULT 'de''fault'
        ALTER TABLE old ADD COLUMN e REAL DEFAULT 3
        ALTER TABLE old ADD COLUMN f INTEGER DEFAULT '-12'
        ALTER TABLE old ADD COLUMN g TEXT DEFAULT 5
        ALTER TABLE old ADD COLUMN h BLOB DEFAULT x'00ff'
        ALTER TABLE old ADD COLUMN i NUMERIC DEFAULT 1e3
        ALTER TABLE old ADD COLUMN j INTEGER DEFAULT TRUE
        ALTER TABLE old ADD COLUMN k DEFAULT 0x10
        INSERT INTO old(a) VALUES (3)
        CREATE TABLE made(a INTEGER, b AS (a * 2), c TEXT AS (a || 'x') STORED, d REAL)
        INSERT INTO made(a, d) VALUES (1, 2), (5, 2.5)
        CREATE TABLE flat(a TEXT, b, c REAL, d TEXT, PRIMARY KEY(c, a)) WITHOUT ROWID
        INSERT INTO flat VALUES ('x', 1, 2, 'long'), ('y', NULL, 1, NULL), ('w', zeroblob(5000), 2.5, ''), ('x', 7, -3, 'é')
        CREATE INDEX flat_d ON flat(d)
        CREATE TABLE gone(a, b, c)
        INSERT INTO gone VALUES (1, 2, 3)
        ALTER TABLE gone DROP COLUMN b
        ALTER TABLE gone RENAME COLUMN c TO "new name"
        CREATE VIEW v AS SELECT * FROM old
        CREATE TRIGGER r AFTER INSERT ON old BEGIN DELETE FROM gone; END
        CREATE VIRTUAL TABLE f USING fts5(body)
        CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT)
        INSERT INTO counted VALUES (7)
        CREATE TABLE "none"(a)
        CREATE TABLE copied AS SELECT a, b AS 'b c' FROM old
        """

    @Test(.enabled(if: Databases.canBeMade, Databases.needPython), arguments: TreeTests.encodings)
    func `Rows of every kind of table read as in SQLite`(encoding: String) throws {
        try Databases.withScript(Self.everyKind, encoding: encoding) { url in
            let file = try SQLiteFile.open(path: url.path)
            #expect(Set(file.schema.entries.map(\.kind)) == [.table, .virtualTable, .index, .view, .trigger])
            #expect(try file.table(named: "made").columns.map(\.isStored) == [true, false, true, true])
            let expected = try Databases.dump(url).split(separator: "\n")
            for name in ["old", "flat", "gone", "none", "counted", "copied", "sqlite_sequence", "f_content", "f_data", "f_config"] {
                let lines = try Self.lines(file, name)
                #expect(lines == expected.filter { $0.hasPrefix("\(name) ") }.map(String.init), "\(name)")
            }
            try Self.check(made: file.table(named: "made"))
            let flat = try file.table(named: "flat")
            #expect(try !flat.hasRowids && flat.rowCount() == 4)
            let error = #expect(throws: SQLiteFileError.self) { _ = try flat.rows().row.rowid }
            #expect(error?.code == .unsupported)
            var entries = try flat.entries()
            try entries.move(.before, key: [.integer(2), .text(file.header.encoding.bytes("x"))])
            let hasEntry = try entries.next()
            #expect(try hasEntry && entries.row.string(3) == "long")
            let index = try file.index(named: "flat_d")
            var keys: [String?] = []
            try index.forEachEntry(equalTo: [.text(file.header.encoding.bytes("é"))]) { row in
                keys.append(try row.string(2))
                return true
            }
            #expect(keys == ["x"], "an entry ends with the primary key")
        }
    }

    private static func lines(_ file: SQLiteFile, _ name: String) throws -> [String] {
        let table = try file.table(named: name)
        var lines: [String] = []
        try table.forEachRow { row in
            let values = try (0..<row.columnCount).map { try Dump.word(row, $0) }
            lines.append(([name, table.hasRowids ? String(row.rowid) : "-"] + values).joined(separator: " "))
            return true
        }
        return lines
    }

    private static func check(made table: SQLiteTable) throws {
        var cursor = try table.rows()
        #expect(try cursor.next() && cursor.row.integer(0) == 1)
        #expect(try cursor.row.string(2) == "1x")
        #expect(try cursor.row.value(3) == .real(2))
        var code: SQLiteFileError.Code?
        do { _ = try cursor.row.kind(1) } catch { code = error.code }
        #expect(code == .unsupported, "a virtual column is not stored")
    }
}
