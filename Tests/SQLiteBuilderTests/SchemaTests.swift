import Foundation
import Testing

@testable import HeartwoodSQLiteBuilder
@testable import HeartwoodSQLiteFile

/// The schema table and the header.
@Suite struct SchemaTests {
    private static func options(_ pageSize: Int) -> SQLiteFileBuilder.Options {
        var options = SQLiteFileBuilder.Options()
        options.pageSize = pageSize
        return options
    }

    @Test(arguments: ShapeTests.pageSizes)
    func `A file without tables is an empty database, in pages of every size`(pageSize: Int) throws {
        try BuiltFile.withPath { path in
            try SQLiteFileBuilder.create(path: path, options: Self.options(pageSize)).finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            let file = try SQLiteFile.open(path: path)
            #expect(file.pageCount == 1 && file.header.pageSize == pageSize && file.schema.tables.isEmpty)
        }
    }

    @Test
    func `The header has the options' values`() throws {
        for (user, application) in [(0, 0), (7, -1), (Int32.max, Int32.min), (-3, 0x4845_4152)] as [(Int32, Int32)] {
            try BuiltFile.withPath { path in
                var options = Self.options(8192)
                options.userVersion = user
                options.applicationID = application
                let file = try SQLiteFileBuilder.create(path: path, options: options)
                _ = try file.table(named: "t", statement: "CREATE TABLE t(a)", columns: 1, rowidColumn: nil)
                try file.finish()
                let header = try SQLiteFile.open(path: path).header
                #expect(header.userVersion == user && header.applicationID == application && header.schemaFormat == 4)
                guard BuiltFile.canBeChecked else { return }
                #expect(try BuiltFile.run([BuiltFile.script, "header", path]) == "8192 2 \(user) \(application) UTF-8 0 0 delete")
            }
        }
    }

    @Test
    func `Schemas of every size around the room that the header leaves on the first page`() throws {
        let lengths = Array(300...500) + [900, 2000, 100_000]
        try BuiltFile.withPath { folder in
            for length in lengths {
                let path = "\(folder)-\(length)"
                let file = try SQLiteFileBuilder.create(path: path, options: Self.options(512))
                let sql = "CREATE TABLE t(a DEFAULT '" + String(repeating: "x", count: length) + "')"
                let table = try file.table(named: "t", statement: sql, columns: 1, rowidColumn: nil)
                try table.append(1, [.integer(5)])
                try file.finish()
                #expect(try BuiltFile.rows(path, "t").map(\.values) == [[.integer(5)]])
                #expect(try SQLiteFile.open(path: path).schema.entry(.table, named: "t")?.sql == sql)
            }
            #expect(try BuiltFile.complaints(lengths.map { "\(folder)-\($0)" }) == "ok")
        }
    }

    @Test(arguments: [1, 2, 3, 10, 60, 400])
    func `A schema of many tables fills a tree`(count: Int) throws {
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path, options: Self.options(512))
            for number in 0..<count {
                let name = "table number \(number) with \"quotes\" and é"
                let quoted = "\"table number \(number) with \"\"quotes\"\" and é\""
                let table = try file.table(named: name, statement: "CREATE TABLE \(quoted)(a, b)", columns: 2, rowidColumn: nil)
                try file.index(
                    named: "i\(number)", statement: "CREATE INDEX i\(number) ON \(quoted)(b)", on: table, columns: [SQLiteIndexColumn(1)],
                    isUnique: false)
                try table.append(Int64(number), [.integer(Int64(number)), .null])
            }
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            let reader = try SQLiteFile.open(path: path)
            #expect(reader.schema.tables.count == count)
            for number in [0, count / 2, count - 1] {
                let rows = try BuiltFile.rows(path, "table number \(number) with \"quotes\" and é")
                #expect(rows.map(\.values) == [[.integer(Int64(number)), .null]])
            }
        }
    }

    @Test(.enabled(if: BuiltFile.canBeChecked, BuiltFile.needPython))
    func `Tables, their automatic indexes, views and triggers have the SQL that SQLite would dump`() throws {
        let statements = [
            "CREATE TABLE owner(Z_PK INTEGER PRIMARY KEY, Z_NAME VARCHAR)",
            "CREATE TABLE Z_1PETS(Z_1OWNERS INTEGER REFERENCES owner(Z_PK), Z_2PETS INTEGER, PRIMARY KEY (Z_1OWNERS, Z_2PETS))",
            "CREATE INDEX Z_1PETS_Z_2PETS_INDEX ON Z_1PETS (Z_2PETS, Z_1OWNERS)", "CREATE VIEW names AS SELECT Z_NAME FROM owner",
            "CREATE TRIGGER note AFTER INSERT ON owner BEGIN UPDATE owner SET Z_NAME = upper(new.Z_NAME); END",
        ]
        let rows = ["INSERT INTO owner VALUES (1, 'it''s')", "INSERT INTO owner VALUES (5, NULL)", "INSERT INTO Z_1PETS VALUES (5, 1)"]
        try BuiltFile.withPath { path in
            let theirs = path + ".theirs"
            let sql = statements.prefix(2) + rows + ["INSERT INTO Z_1PETS VALUES (1, 3)"] + statements.dropFirst(2)
            try BuiltFile.run([BuiltFile.script, "make", theirs], input: sql.joined(separator: "\n"))

            let file = try SQLiteFileBuilder.create(path: path)
            let owner = try file.table(named: "owner", statement: statements[0], columns: 2, rowidColumn: 0)
            let pets = try file.table(named: "Z_1PETS", statement: statements[1], columns: 2, rowidColumn: nil)
            let key = [SQLiteIndexColumn(0), SQLiteIndexColumn(1)]
            try file.index(named: "sqlite_autoindex_Z_1PETS_1", statement: nil, on: pets, columns: key, isUnique: true)
            try file.index(named: "Z_1PETS_Z_2PETS_INDEX", statement: statements[2], on: pets, columns: key.reversed(), isUnique: false)
            try file.statement(type: "view", named: "names", table: "names", sql: statements[3])
            try file.statement(type: "trigger", named: "note", table: "owner", sql: statements[4])
            try owner.append(1, [.null, .text("it's")])
            try owner.append(5, [.integer(99)])
            try pets.append(1, [.integer(5), .integer(1)])
            try pets.append(2, [.integer(1), .integer(3)])
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
            #expect(try BuiltFile.run([BuiltFile.script, "dump", path]) == (try BuiltFile.run([BuiltFile.script, "dump", theirs])))
            #expect(try BuiltFile.rowids(path, "sqlite_autoindex_Z_1PETS_1") == [2, 1])
            #expect(try BuiltFile.rowids(path, "Z_1PETS_Z_2PETS_INDEX") == [1, 2])
        }
    }

    @Test(.enabled(if: BuiltFile.canBeChecked, BuiltFile.needPython), arguments: [512, 4096, 65536])
    func `SQLite goes on to write in a built file`(pageSize: Int) throws {
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path, options: Self.options(pageSize))
            let sql = "CREATE TABLE t(k INTEGER PRIMARY KEY, a TEXT)"
            let table = try file.table(named: "t", statement: sql, columns: 2, rowidColumn: 0)
            try file.index(named: "t_a", statement: "CREATE UNIQUE INDEX t_a ON t(a)", on: table, columns: [SQLiteIndexColumn(1)], isUnique: true)
            for row in 1...2000 { try table.append(Int64(row), [.null, .text("name \(row) " + String(repeating: "y", count: row % 200))]) }
            try file.finish()
            let more = [
                "DELETE FROM t WHERE k % 3 = 0", "INSERT INTO t SELECT k + 10000, 'new ' || k FROM t",
                "UPDATE t SET a = 'changed ' || k WHERE k % 5 = 1", "CREATE TABLE other(x UNIQUE)", "INSERT INTO other SELECT a FROM t",
                "DELETE FROM t WHERE k < 900", "DROP INDEX t_a", "VACUUM",
            ]
            for count in more.indices {
                try BuiltFile.run([BuiltFile.script, "make", path], input: more[count])
                #expect(try BuiltFile.complaints(path) == "ok", "\(more[count])")
            }
        }
    }

    @Test
    func `Names that are taken, and statements with another number of columns, are refused`() throws {
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let table = try file.table(named: "People", statement: "CREATE TABLE People(a, b)", columns: 2, rowidColumn: nil)
            func refused(_ body: () throws -> Void) {
                let error = #expect(throws: SQLiteBuildError.self) { try body() }
                #expect(error?.code == .invalidSchema)
            }
            refused { _ = try file.table(named: "PEOPLE", statement: "CREATE TABLE PEOPLE(a)", columns: 1, rowidColumn: nil) }
            let columns = [SQLiteIndexColumn(0)]
            refused { try file.index(named: "people", statement: "CREATE INDEX people ON People(a)", on: table, columns: columns, isUnique: false) }
            refused { try file.statement(type: "view", named: "pEople", table: "pEople", sql: "CREATE VIEW pEople AS SELECT 1") }
            refused { _ = try file.table(named: "other", statement: "CREATE TABLE other(a, b)", columns: 3, rowidColumn: nil) }
            let names = (0...2000).map { "c\($0)" }.joined(separator: ",")
            refused { _ = try file.table(named: "wide", statement: "CREATE TABLE wide(\(names))", columns: 2001, rowidColumn: nil) }
            // A refused table leaves its name free.
            _ = try file.table(named: "other", statement: "CREATE TABLE other(a, b)", columns: 2, rowidColumn: nil)
            try file.finish()
            #expect(try BuiltFile.complaints(path) == "ok")
        }
    }
}
