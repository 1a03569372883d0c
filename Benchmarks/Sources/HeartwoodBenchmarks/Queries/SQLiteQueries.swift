import CSQLite
import Foundation

/// Queries through SQLite's C API with the equivalent SQL and indexes.
final class SQLiteQueries: QueryPeer {
    static var name: String { "SQLite C API" }
    /// All tables are in one file, which GRDB reads too.
    static func path(_ directory: URL) -> String { directory.appendingPathComponent("queries.sqlite").path }

    private let generator: PersonGenerator
    private let path: String
    private let peer: SQLitePeer
    private var connection: SQLiteConnection { peer.connection }

    init(directory: URL, generator: PersonGenerator) throws {
        path = Self.path(directory)
        self.generator = generator
        // Its indexes are made after the load, whose time is not measured here.
        peer = try LateIndexSQLitePeer(path: path, generator: generator)
    }

    func open() throws { try peer.open() }
    func close() throws { try peer.close() }
    func forget() {}

    func fill(phrases: [String], packages: [PackageData]) throws {
        try peer.open()
        try peer.bulkInsert()
        try connection.execute(
            """
            CREATE TABLE phrase (id INTEGER PRIMARY KEY, text TEXT);
            CREATE TABLE package (id INTEGER PRIMARY KEY, name TEXT UNIQUE, size INTEGER);
            CREATE TABLE dependency (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) WITHOUT ROWID;
            CREATE INDEX by_target ON dependency (target, source);
            BEGIN
            """)
        try insert("INSERT INTO phrase (text) VALUES (?)", phrases) { sqlite3_bind_text($0, 1, $1, -1, SQLiteConnection.transient) }
        try insert("INSERT INTO package (name, size) VALUES (?, ?)", packages) { statement, package in
            sqlite3_bind_text(statement, 1, package.name, -1, SQLiteConnection.transient)
            sqlite3_bind_int64(statement, 2, Int64(package.size ?? 0))
        }
        let edges = packages.flatMap { package in (package.depends ?? []).map { (package.name, $0) } }
        try insert(
            "INSERT OR IGNORE INTO dependency SELECT a.id, b.id FROM package a, package b WHERE a.name = ? AND b.name = ?", edges
        ) { statement, edge in
            sqlite3_bind_text(statement, 1, edge.0, -1, SQLiteConnection.transient)
            sqlite3_bind_text(statement, 2, edge.1, -1, SQLiteConnection.transient)
        }
        try connection.execute("COMMIT; ANALYZE")
        try peer.close()
    }

    private func insert<Element>(_ sql: String, _ elements: [Element], _ bind: (OpaquePointer?, Element) -> Void) throws {
        let statement = try connection.prepare(sql)
        for element in elements {
            sqlite3_reset(statement)
            bind(statement, element)
            _ = try connection.step(statement)
        }
        sqlite3_reset(statement)
    }

    func byEmail(_ emails: [String]) throws -> UInt64? { try peer.byEmail(emails) }
    func ranges(_ birthdays: [Double]) throws -> UInt64? { try peer.ranges(birthdays) }
    func count() throws -> UInt64? { try peer.scan() }

    /// Runs a statement once for each value, and adds up a column.
    private func sum<Value>(_ sql: String, _ values: [Value], _ bind: (OpaquePointer?, Value) -> Void) throws -> UInt64 {
        try connection.reading {
            var sum = Checksum()
            let statement = try connection.prepare(sql)
            for value in values {
                sqlite3_reset(statement)
                bind(statement, value)
                while try connection.step(statement) { sum.add(Int(sqlite3_column_int64(statement, 0))) }
            }
            sqlite3_reset(statement)
            return sum.value
        }
    }

    func phrases(with word: String) throws -> UInt64? {
        try connection.reading {
            let statement = try connection.prepare("SELECT COUNT(*) FROM phrase WHERE text LIKE ?")
            defer { sqlite3_reset(statement) }
            sqlite3_bind_text(statement, 1, "%\(word)%", -1, SQLiteConnection.transient)
            return try connection.step(statement) ? UInt64(sqlite3_column_int64(statement, 0)) : 0
        }
    }

    func lowestScores() throws -> UInt64? {
        try sum("SELECT age FROM person ORDER BY score, id LIMIT 100", [()]) { _, _ in }
    }

    func members(ofGroups titles: [String]) throws -> UInt64? {
        try sum("SELECT p.age FROM grp g JOIN person p ON p.grp = g.id WHERE g.title = ?", titles) {
            sqlite3_bind_text($0, 1, $1, -1, SQLiteConnection.transient)
        }
    }

    func dependents(ofPackages names: [String]) throws -> UInt64? {
        try sum(
            "SELECT p.size FROM package t JOIN dependency d ON d.target = t.id JOIN package p ON p.id = d.source WHERE t.name = ?", names
        ) { sqlite3_bind_text($0, 1, $1, -1, SQLiteConnection.transient) }
    }

    func scoresByAge() throws -> UInt64? {
        try connection.reading {
            var sum = Checksum()
            let statement = try connection.prepare("SELECT age, COUNT(*), SUM(score) FROM person GROUP BY age")
            while try connection.step(statement) {
                sum.add(Int(sqlite3_column_int64(statement, 0)) &* Int(sqlite3_column_int64(statement, 1)))
                sum.add(Int(sqlite3_column_double(statement, 2)))
            }
            sqlite3_reset(statement)
            return sum.value
        }
    }

    func batchInsert(_ people: [PersonData]) throws -> UInt64? {
        try connection.execute("BEGIN")
        for person in people { try peer.insertOne(person) }
        try connection.execute("COMMIT")
        return UInt64(people.count)
    }

    func batchUpdate() throws -> UInt64? { try change("UPDATE person SET score = score + 1 WHERE age >= 0") }
    func batchDelete() throws -> UInt64? { try change("DELETE FROM person WHERE age >= 0") }

    private func change(_ sql: String) throws -> UInt64 {
        let statement = try connection.prepare(sql)
        _ = try connection.step(statement)
        sqlite3_reset(statement)
        return UInt64(sqlite3_changes(connection.database))
    }
}
