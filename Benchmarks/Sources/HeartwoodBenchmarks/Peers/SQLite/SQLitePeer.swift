import CSQLite
import Foundation

/// SQLite through its C API: prepared statements, WAL, a large cache, mapped reads.
class SQLitePeer: Peer {
    class var name: String { "SQLite C API" }

    /// Whether text is read as bytes in place, without making a String.
    var readsBytes: Bool { false }
    var synchronous: String { "FULL" }
    var indexesAfterLoad: Bool { false }

    private let path: String
    private let generator: PersonGenerator
    let connection = SQLiteConnection()

    static let schema = """
        CREATE TABLE grp (id INTEGER PRIMARY KEY, title TEXT);
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, email TEXT, age INTEGER, score REAL, birthday REAL, note TEXT, grp INTEGER);
        """
    static let indexes = """
        CREATE UNIQUE INDEX by_email ON person (email);
        CREATE INDEX by_birthday ON person (birthday);
        CREATE INDEX by_group ON person (grp);
        """
    static func pragmas(synchronous: String = "FULL") -> String {
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous); PRAGMA cache_size = -262144; PRAGMA mmap_size = 1073741824;
        """
    }

    required init(path: String, generator: PersonGenerator) throws {
        self.path = path
        self.generator = generator
    }

    func open() throws {
        try connection.open(path)
        try connection.execute(Self.pragmas(synchronous: synchronous))
    }

    func close() throws { connection.close() }

    private func execute(_ sql: String) throws { try connection.execute(sql) }
    private func prepare(_ sql: String) throws -> OpaquePointer? { try connection.prepare(sql) }
    private func step(_ statement: OpaquePointer?) throws -> Bool { try connection.step(statement) }
    private func text(_ statement: OpaquePointer?, _ column: Int32) -> String { connection.text(statement, column) }
    private var transient: sqlite3_destructor_type { SQLiteConnection.transient }

    private func add(_ statement: OpaquePointer?, _ column: Int32, to sum: inout Checksum) {
        guard readsBytes else { return sum.add(text(statement, column)) }
        let bytes = sqlite3_column_text(statement, column)
        sum.add(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
    }

    private func reading(_ body: () throws -> UInt64) throws -> UInt64 { try connection.reading(body) }

    func bulkInsert() throws {
        try execute(Self.schema)
        if !indexesAfterLoad { try execute(Self.indexes) }
        try execute("BEGIN")
        let group = try prepare("INSERT INTO grp VALUES (?, ?)")
        for number in 0..<generator.groupCount {
            sqlite3_reset(group)
            sqlite3_bind_int64(group, 1, Int64(number + 1))
            sqlite3_bind_text(group, 2, "group \(number)", -1, transient)
            _ = try step(group)
        }
        for number in 0..<generator.count {
            try insertOne(generator.person(number))
            if (number + 1) % 10_000 == 0 {
                try execute("COMMIT")
                try execute("BEGIN")
            }
        }
        try execute("COMMIT")
        if indexesAfterLoad { try execute(Self.indexes) }
    }

    func insertOne(_ person: PersonData) throws {
        let insert = try prepare("INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        sqlite3_bind_int64(insert, 1, Int64(person.number + 1))
        sqlite3_bind_text(insert, 2, person.name, -1, transient)
        sqlite3_bind_text(insert, 3, person.email, -1, transient)
        sqlite3_bind_int64(insert, 4, Int64(person.age))
        sqlite3_bind_double(insert, 5, person.score)
        sqlite3_bind_double(insert, 6, person.birthday)
        sqlite3_bind_text(insert, 7, person.note, -1, transient)
        sqlite3_bind_int64(insert, 8, Int64(person.group + 1))
        _ = try step(insert)
        sqlite3_reset(insert)
    }

    func saveOne(_ number: Int) throws {
        let statement = try prepare("UPDATE person SET score = ?, birthday = ? WHERE id = ?")
        sqlite3_bind_double(statement, 1, Double(number))
        sqlite3_bind_double(statement, 2, Double(number))
        sqlite3_bind_int64(statement, 3, Int64(number + 1))
        _ = try step(statement)
        sqlite3_reset(statement)
    }

    func firstName() throws -> String {
        let statement = try prepare("SELECT name FROM person WHERE id = 1")
        defer { sqlite3_reset(statement) }
        return try step(statement) ? text(statement, 0) : ""
    }

    func pointByID(_ numbers: [Int]) throws -> UInt64? {
        try reading {
            var sum = Checksum()
            let statement = try prepare("SELECT name, age FROM person WHERE id = ?")
            for number in numbers {
                sqlite3_reset(statement)
                sqlite3_bind_int64(statement, 1, Int64(number + 1))
                guard try step(statement) else { continue }
                add(statement, 0, to: &sum)
                sum.add(Int(sqlite3_column_int64(statement, 1)))
            }
            sqlite3_reset(statement)
            return sum.value
        }
    }

    func byEmail(_ emails: [String]) throws -> UInt64? {
        try reading {
            var sum = Checksum()
            let statement = try prepare("SELECT age FROM person WHERE email = ?")
            for email in emails {
                sqlite3_reset(statement)
                sqlite3_bind_text(statement, 1, email, -1, transient)
                if try step(statement) { sum.add(Int(sqlite3_column_int64(statement, 0))) }
            }
            sqlite3_reset(statement)
            return sum.value
        }
    }

    func ranges(_ birthdays: [Double]) throws -> UInt64? {
        try reading {
            var sum = Checksum()
            let statement = try prepare("SELECT age FROM person WHERE birthday >= ? ORDER BY birthday LIMIT 100")
            for birthday in birthdays {
                sqlite3_reset(statement)
                sqlite3_bind_double(statement, 1, birthday)
                while try step(statement) { sum.add(Int(sqlite3_column_int64(statement, 0))) }
            }
            sqlite3_reset(statement)
            return sum.value
        }
    }

    func rangeValues(_ birthdays: [Double]) throws -> UInt64? { try ranges(birthdays) }

    func scan() throws -> UInt64? {
        try reading {
            let statement = try prepare("SELECT COUNT(*) FROM person WHERE age > 40 AND instr(note, 'tree') > 0")
            defer { sqlite3_reset(statement) }
            return try step(statement) ? UInt64(sqlite3_column_int64(statement, 0)) : 0
        }
    }

    func readAll() throws -> UInt64? {
        try reading {
            var sum = Checksum()
            let statement = try prepare("SELECT name, age FROM person")
            while try step(statement) {
                add(statement, 0, to: &sum)
                sum.add(Int(sqlite3_column_int64(statement, 1)))
            }
            sqlite3_reset(statement)
            return sum.value
        }
    }

    func readValues() throws -> UInt64? { try readAll() }

    func readStructures() throws -> UInt64? {
        try reading {
            var rows: [PersonRow] = [], sum = Checksum()
            let statement = try prepare("SELECT name, age FROM person")
            while try step(statement) { rows.append(PersonRow(name: text(statement, 0), age: Int(sqlite3_column_int64(statement, 1)))) }
            sqlite3_reset(statement)
            for row in rows {
                sum.add(row.name)
                sum.add(row.age)
            }
            return sum.value
        }
    }

    func walkGroups() throws -> UInt64? {
        try reading {
            var sum = Checksum()
            let statement = try prepare("SELECT age FROM person WHERE grp = ?")
            for group in 0..<generator.groupCount {
                sqlite3_reset(statement)
                sqlite3_bind_int64(statement, 1, Int64(group + 1))
                while try step(statement) { sum.add(Int(sqlite3_column_int64(statement, 0))) }
            }
            sqlite3_reset(statement)
            return sum.value
        }
    }

    func memberValues() throws -> UInt64? { try walkGroups() }

    func update(_ numbers: [Int]) throws -> UInt64? {
        try execute("BEGIN")
        let statement = try prepare("UPDATE person SET age = age + 1 WHERE id = ?")
        for number in numbers {
            sqlite3_reset(statement)
            sqlite3_bind_int64(statement, 1, Int64(number + 1))
            _ = try step(statement)
        }
        sqlite3_reset(statement)
        try execute("COMMIT")
        return UInt64(numbers.count)
    }

    func delete(_ numbers: [Int]) throws -> UInt64? {
        try execute("BEGIN")
        let statement = try prepare("DELETE FROM person WHERE id = ?")
        for number in numbers {
            sqlite3_reset(statement)
            sqlite3_bind_int64(statement, 1, Int64(number + 1))
            _ = try step(statement)
        }
        sqlite3_reset(statement)
        try execute("COMMIT")
        return UInt64(numbers.count)
    }

    func compact() throws -> UInt64? {
        connection.forgetStatements()
        try execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        return 0
    }
}

/// SQLite as the engine's counterpart: text stays bytes.
class BytesSQLitePeer: SQLitePeer {
    override var readsBytes: Bool { true }
}

/// SQLite whose commits do not wait for the disk.
final class NormalSQLitePeer: BytesSQLitePeer {
    override var synchronous: String { "NORMAL" }
}

/// SQLite with indexes made after the load.
final class LateIndexSQLitePeer: BytesSQLitePeer {
    override var indexesAfterLoad: Bool { true }
}
