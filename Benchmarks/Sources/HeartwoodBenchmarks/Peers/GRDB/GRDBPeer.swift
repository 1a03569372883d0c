import Foundation
import GRDB

/// SQLite through GRDB's records, with the same pragmas.
class GRDBPeer: Peer {
    class var name: String { "GRDB records" }

    var synchronous: String { "FULL" }

    struct Person: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "person"
        var id: Int64
        var name: String
        var email: String
        var age: Int
        var score: Double
        var birthday: Double
        var note: String
        var grp: Int64

        init(_ data: PersonData) {
            (id, name, email) = (Int64(data.number + 1), data.name, data.email)
            (age, score, birthday, note, grp) = (data.age, data.score, data.birthday, data.note, Int64(data.group + 1))
        }
    }

    private let path: String
    private let generator: PersonGenerator
    private var queue: DatabaseQueue?

    required init(path: String, generator: PersonGenerator) throws {
        self.path = path
        self.generator = generator
    }

    func database() throws -> DatabaseQueue {
        guard let queue else { throw PeerError(description: "the database is not open") }
        return queue
    }

    func open() throws {
        var configuration = Configuration()
        let pragmas = SQLitePeer.pragmas(synchronous: synchronous)
        configuration.prepareDatabase { try $0.execute(sql: pragmas) }
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    func close() throws {
        try queue?.close()
        queue = nil
    }

    func bulkInsert() throws {
        let queue = try database()
        try queue.write { try $0.execute(sql: SQLitePeer.schema + SQLitePeer.indexes) }
        let generator = generator
        for start in stride(from: 0, to: generator.count, by: 10_000) {
            try queue.write { database in
                if start == 0 {
                    for group in 0..<generator.groupCount {
                        try database.execute(sql: "INSERT INTO grp VALUES (?, ?)", arguments: [group + 1, "group \(group)"])
                    }
                }
                for number in start..<min(start + 10_000, generator.count) {
                    try Person(generator.person(number)).insert(database)
                }
            }
        }
    }

    func insertOne(_ person: PersonData) throws {
        try database().write { try Person(person).insert($0) }
    }

    func saveOne(_ number: Int) throws {
        try database().write { database in
            guard var person = try Person.fetchOne(database, key: Int64(number + 1)) else { return }
            person.score = Double(number)
            person.birthday = Double(number)
            try person.update(database)
        }
    }

    func firstName() throws -> String {
        try database().read { try Person.fetchOne($0, key: 1)?.name ?? "" }
    }

    func pointByID(_ numbers: [Int]) throws -> UInt64? {
        try database().read { database in
            var sum = Checksum()
            for number in numbers {
                guard let person = try Person.fetchOne(database, key: Int64(number + 1)) else { continue }
                sum.add(person.name)
                sum.add(person.age)
            }
            return sum.value
        }
    }

    func byEmail(_ emails: [String]) throws -> UInt64? {
        try database().read { database in
            var sum = Checksum()
            for email in emails {
                if let person = try Person.filter(Column("email") == email).fetchOne(database) { sum.add(person.age) }
            }
            return sum.value
        }
    }

    func ranges(_ birthdays: [Double]) throws -> UInt64? {
        try database().read { database in
            var sum = Checksum()
            for birthday in birthdays {
                let request = Person.filter(Column("birthday") >= birthday).order(Column("birthday")).limit(100)
                for person in try request.fetchAll(database) { sum.add(person.age) }
            }
            return sum.value
        }
    }

    func scan() throws -> UInt64? {
        try database().read { database in
            UInt64(try Person.filter(sql: "age > 40 AND instr(note, 'tree') > 0").fetchCount(database))
        }
    }

    func readAll() throws -> UInt64? {
        try database().read { database in
            var sum = Checksum()
            let people = try Person.fetchCursor(database)
            while let person = try people.next() {
                sum.add(person.name)
                sum.add(person.age)
            }
            return sum.value
        }
    }

    func readStructures() throws -> UInt64? {
        try database().read { database in
            var sum = Checksum()
            for row in try PersonRow.fetchAll(database, sql: "SELECT name, age FROM person") {
                sum.add(row.name)
                sum.add(row.age)
            }
            return sum.value
        }
    }

    func walkGroups() throws -> UInt64? {
        let count = generator.groupCount
        return try database().read { database in
            var sum = Checksum()
            for group in 0..<count {
                for person in try Person.filter(Column("grp") == Int64(group + 1)).fetchAll(database) { sum.add(person.age) }
            }
            return sum.value
        }
    }

    func update(_ numbers: [Int]) throws -> UInt64? {
        try database().write { database in
            for number in numbers {
                guard var person = try Person.fetchOne(database, key: Int64(number + 1)) else { continue }
                person.age += 1
                try person.update(database)
            }
        }
        return UInt64(numbers.count)
    }

    func delete(_ numbers: [Int]) throws -> UInt64? {
        try database().write { database in
            for number in numbers { _ = try Person.deleteOne(database, key: Int64(number + 1)) }
        }
        return UInt64(numbers.count)
    }

    func compact() throws -> UInt64? {
        try database().vacuum()
        try database().writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        return 0
    }
}

/// GRDB whose commits do not wait for the disk.
final class NormalGRDBPeer: GRDBPeer {
    override var synchronous: String { "NORMAL" }
}

extension PersonRow: FetchableRecord {}
