import Foundation
import GRDB

/// Queries through GRDB's records, over the file that `SQLiteQueries` has filled.
final class GRDBQueries: QueryPeer {
    static var name: String { "GRDB records" }

    private struct Package: Codable, FetchableRecord, TableRecord {
        static let databaseTableName = "package"
        var id: Int64
        var name: String
        var size: Int
    }

    private let peer: GRDBPeer

    init(directory: URL, generator: PersonGenerator) throws {
        peer = try GRDBPeer(path: SQLiteQueries.path(directory), generator: generator)
    }

    func fill(phrases: [String], packages: [PackageData]) throws {}
    func open() throws { try peer.open() }
    func close() throws { try peer.close() }
    func forget() {}

    func byEmail(_ emails: [String]) throws -> UInt64? { try peer.byEmail(emails) }
    func ranges(_ birthdays: [Double]) throws -> UInt64? { try peer.ranges(birthdays) }

    func lowestScores() throws -> UInt64? {
        try peer.database().read { database in
            var sum = Checksum()
            for person in try GRDBPeer.Person.order(Column("score"), Column("id")).limit(100).fetchAll(database) { sum.add(person.age) }
            return sum.value
        }
    }

    func members(ofGroups titles: [String]) throws -> UInt64? {
        try peer.database().read { database in
            var sum = Checksum()
            for title in titles {
                let sql = "SELECT person.* FROM grp JOIN person ON person.grp = grp.id WHERE grp.title = ?"
                for person in try GRDBPeer.Person.fetchAll(database, sql: sql, arguments: [title]) { sum.add(person.age) }
            }
            return sum.value
        }
    }

    func dependents(ofPackages names: [String]) throws -> UInt64? {
        try peer.database().read { database in
            var sum = Checksum()
            for name in names {
                let sql = """
                    SELECT p.* FROM package t JOIN dependency d ON d.target = t.id JOIN package p ON p.id = d.source WHERE t.name = ?
                    """
                for package in try Package.fetchAll(database, sql: sql, arguments: [name]) { sum.add(package.size) }
            }
            return sum.value
        }
    }

    func batchInsert(_ people: [PersonData]) throws -> UInt64? {
        try peer.database().write { database in
            for person in people { try GRDBPeer.Person(person).insert(database) }
        }
        return UInt64(people.count)
    }
}
