import CSQLite
import Foundation
import Heartwood

/// Reads Core Data's file.
protocol StorePeer: Peer {
    /// Name and age of the persons, a hundred at a time.
    func byKeys(_ numbers: [Int]) throws -> UInt64
}

/// The stack over Core Data's file, in place.
final class InPlacePeer: HeartwoodPeer, StorePeer {
    override class var name: String { "Heartwood in place" }
    override var storeType: String { NSSQLiteStoreType }
    override var options: [AnyHashable: Any]? { [NSReadOnlyPersistentStoreOption: true] }

    func byKeys(_ numbers: [Int]) throws -> UInt64 {
        var sum = Checksum()
        for start in stride(from: 0, to: numbers.count, by: 100) {
            let request = NSFetchRequest<ManagedPerson>(entityName: "Person")
            request.predicate = NSPredicate(format: "SELF IN %@", numbers[start..<min(start + 100, numbers.count)].compactMap { ids[$0] })
            for person in try context.fetch(request) {
                sum.add(person.name)
                sum.add(person.age)
            }
        }
        context.reset()
        return sum.value
    }

    override func readAll() throws -> UInt64? {
        defer { context.reset() }
        return try super.readAll()
    }
}

/// SQLite's C API over the same file.
final class CoreDataSQLitePeer: StorePeer {
    static var name: String { "SQLite in place" }

    private let path: String
    private let connection = SQLiteConnection()

    init(path: String, generator: PersonGenerator) throws { self.path = path }

    func open() throws {
        try connection.open(path)
        try connection.execute("PRAGMA cache_size = -262144; PRAGMA mmap_size = 1073741824")
    }

    func close() throws { connection.close() }
    func bulkInsert() throws {}
    func saveOne(_ number: Int) throws {}

    private func rows(_ sql: String, _ body: (OpaquePointer?) throws -> Void) throws {
        let statement = try connection.prepare(sql)
        defer { sqlite3_reset(statement) }
        try body(statement)
    }

    func firstName() throws -> String {
        var name = ""
        try rows("SELECT ZNAME FROM ZPERSON WHERE Z_PK = 1") { if try connection.step($0) { name = connection.text($0, 0) } }
        return name
    }

    func byKeys(_ numbers: [Int]) throws -> UInt64 {
        try connection.reading {
            var sum = Checksum()
            try rows("SELECT ZNAME, ZAGE FROM ZPERSON WHERE Z_PK = ? AND Z_ENT = 2") { statement in
                for number in numbers {
                    sqlite3_reset(statement)
                    sqlite3_bind_int64(statement, 1, Int64(number + 1))
                    guard try connection.step(statement) else { continue }
                    sum.add(connection.text(statement, 0))
                    sum.add(Int(sqlite3_column_int64(statement, 1)))
                }
            }
            return sum.value
        }
    }

    func scan() throws -> UInt64? {
        var count: UInt64 = 0
        try rows("SELECT COUNT(*) FROM ZPERSON WHERE Z_ENT = 2 AND ZAGE > 40 AND instr(ZNOTE, 'tree') > 0") {
            if try connection.step($0) { count = UInt64(sqlite3_column_int64($0, 0)) }
        }
        return count
    }

    func readAll() throws -> UInt64? {
        try connection.reading {
            var sum = Checksum()
            try rows("SELECT ZNAME, ZAGE FROM ZPERSON WHERE Z_ENT = 2") { statement in
                while try connection.step(statement) {
                    sum.add(connection.text(statement, 0))
                    sum.add(Int(sqlite3_column_int64(statement, 1)))
                }
            }
            return sum.value
        }
    }

    func ranges(_ birthdays: [Double]) throws -> UInt64? {
        try connection.reading {
            var sum = Checksum()
            try rows("SELECT ZAGE FROM ZPERSON WHERE Z_ENT = 2 AND ZBIRTHDAY >= ? ORDER BY ZBIRTHDAY LIMIT 100") { statement in
                for birthday in birthdays {
                    sqlite3_reset(statement)
                    sqlite3_bind_double(statement, 1, birthday)
                    while try connection.step(statement) { sum.add(Int(sqlite3_column_int64(statement, 0))) }
                }
            }
            return sum.value
        }
    }
}
