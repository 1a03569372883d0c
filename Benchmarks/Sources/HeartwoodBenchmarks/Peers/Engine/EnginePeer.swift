import Foundation
import RecordLog

/// Heartwood's engine through its own API: rows, tables and indexes, without objects.
class EnginePeer: Peer {
    class var name: String { "RecordLog" }

    private let path: String
    private let generator: PersonGenerator
    private var opened: LogStore?
    private let builder = RowBuilder()
    private let key = KeyBuilder()
    var durability: Durability { .full }

    required init(path: String, generator: PersonGenerator) throws {
        self.path = path
        self.generator = generator
    }

    private enum Person {
        static let columns: [(name: String, type: ColumnType)] = [
            ("name", .text), ("email", .text), ("age", .int16), ("score", .double), ("birthday", .double), ("note", .text), ("group", .reference),
        ]
        static let name = 0, email = 1, age = 2, score = 3, birthday = 4, note = 5, group = 6
    }

    private var people: TableDefinition!
    private var groups: TableDefinition!
    private var byEmail: IndexID!
    private var byBirthday: IndexID!
    private var byGroup: IndexID!

    func open() throws {
        var options = StoreOptions()
        options.durability = durability
        let store = try LogStore.open(path: path, options: options)
        opened = store
        let catalog = store.snapshot().catalog
        if catalog.table(named: "Person") == nil { try define(store) } else { look(catalog) }
    }

    private func define(_ store: LogStore) throws {
        try store.write { transaction in
            _ = try transaction.defineTable(name: "Group", columns: [("title", .text)])
            let people = try transaction.defineTable(name: "Person", columns: Person.columns)
            let columns = people.currentLayout.columns
            for (name, column) in [("email", Person.email), ("birthday", Person.birthday), ("group", Person.group)] {
                _ = try transaction.defineIndex(named: name, on: people.id, parts: [IndexPart(column: columns[column].id, ascending: true)])
            }
        }
        look(store.snapshot().catalog)
    }

    private func look(_ catalog: Catalog) {
        people = catalog.table(named: "Person")
        groups = catalog.table(named: "Group")
        let indexes = catalog.indexes(on: people.id)
        byEmail = indexes.first { $0.name == "email" }?.id
        byBirthday = indexes.first { $0.name == "birthday" }?.id
        byGroup = indexes.first { $0.name == "group" }?.id
    }

    private var store: LogStore {
        get throws {
            guard let opened else { throw PeerError(description: "the store is not open") }
            return opened
        }
    }

    func close() throws {
        try opened?.close()
        opened = nil
    }

    func look() throws { _ = try store.refresh() }

    private func reference(_ number: Int) -> RowReference { RowReference(table: people.id, row: UInt64(number + 1)) }

    func bulkInsert() throws {
        let store = try store
        try store.write { transaction in
            for number in 0..<generator.groupCount {
                builder.begin(groups.currentLayout)
                builder.set(0, text: "group \(number)")
                let row = try transaction.newRow(in: groups.id)
                try transaction.put(RowReference(table: groups.id, row: row), body: builder.unsafeBody())
            }
        }
        let layout = people.currentLayout
        for start in stride(from: 0, to: generator.count, by: 10_000) {
            try store.write { transaction in
                for number in start..<min(start + 10_000, generator.count) {
                    let person = generator.person(number)
                    builder.begin(layout)
                    builder.set(Person.name, text: person.name)
                    builder.set(Person.email, text: person.email)
                    builder.set(Person.age, int64: Int64(person.age))
                    builder.set(Person.score, double: person.score)
                    builder.set(Person.birthday, double: person.birthday)
                    builder.set(Person.note, text: person.note)
                    builder.set(Person.group, reference: RowReference(table: groups.id, row: UInt64(person.group + 1)))
                    let row = try transaction.newRow(in: people.id)
                    try transaction.put(RowReference(table: people.id, row: row), body: builder.unsafeBody())
                }
            }
        }
    }

    /// Copies a row into the builder, with one or two columns changed.
    private func change(_ transaction: Transaction, _ number: Int, _ change: (RowBuilder, UnsafeRowView, RowLayout) -> Void) throws {
        guard let row = try transaction.unsafeRow(reference(number)) else { return }
        let layout = people.currentLayout
        builder.begin(layout, copying: row, of: layout)
        change(builder, row, layout)
        try transaction.put(reference(number), body: builder.unsafeBody())
    }

    func saveOne(_ number: Int) throws {
        try store.write { transaction in
            try change(transaction, number) { builder, _, _ in
                builder.set(Person.score, double: Double(number))
                builder.set(Person.birthday, double: Double(number))
            }
        }
    }

    func firstName() throws -> String {
        guard let row = try store.snapshot().unsafeRow(reference(0)) else { return "" }
        return String(decoding: row.bytes(people.currentLayout.access[Person.name]), as: UTF8.self)
    }

    func pointByID(_ numbers: [Int]) throws -> UInt64? {
        let snapshot = try store.snapshot()
        let name = people.currentLayout.access[Person.name], age = people.currentLayout.access[Person.age]
        var sum = Checksum()
        for number in numbers {
            guard let row = try snapshot.unsafeRow(reference(number)) else { continue }
            sum.add(row.bytes(name))
            sum.add(Int(row.int64(age)))
        }
        return sum.value
    }

    func byEmail(_ emails: [String]) throws -> UInt64? {
        let snapshot = try store.snapshot()
        let age = people.currentLayout.access[Person.age]
        var sum = Checksum()
        for email in emails {
            key.removeAll()
            key.append(text: email)
            guard let number = try snapshot.firstRow(byEmail, prefix: key),
                let row = try snapshot.unsafeRow(RowReference(table: people.id, row: number))
            else { continue }
            sum.add(Int(row.int64(age)))
        }
        return sum.value
    }

    func ranges(_ birthdays: [Double]) throws -> UInt64? {
        let snapshot = try store.snapshot()
        let age = people.currentLayout.access[Person.age]
        var sum = Checksum()
        for birthday in birthdays {
            key.removeAll()
            key.append(double: birthday)
            try snapshot.rows(byBirthday, KeyRange(lower: key.bytes), limit: 100) { row in
                sum.add(Int(row.int64(age)))
                return true
            }
        }
        return sum.value
    }

    func scan() throws -> UInt64? {
        let snapshot = try store.snapshot()
        let age = people.currentLayout.access[Person.age], note = people.currentLayout.access[Person.note]
        var count: UInt64 = 0
        let word = Array("tree".utf8)
        try word.withUnsafeBytes { word in
            try snapshot.scanBatches(people.id) { rows in
                // Branch-free: whether a number is in range cannot be predicted.
                var kept = 0
                for row in rows {
                    rows[kept] = row
                    kept += row.int64(age) > 40 ? 1 : 0
                }
                for row in rows[..<kept] where Self.contains(row.bytes(note), word) { count += 1 }
                return true
            }
        }
        return count
    }

    /// Searches as SQLite's `instr` does: the first byte, then the rest.
    private static func contains(_ text: UnsafeRawBufferPointer, _ word: UnsafeRawBufferPointer) -> Bool {
        guard var at = text.baseAddress, let wanted = word.baseAddress, text.count >= word.count else { return false }
        let first = Int32(word[0]), last = at + (text.count - word.count)
        while let found = memchr(at, first, last - at + 1) {
            if memcmp(found, wanted, word.count) == 0 { return true }
            at = UnsafeRawPointer(found) + 1
            if at > last { break }
        }
        return false
    }

    func readAll() throws -> UInt64? {
        let snapshot = try store.snapshot()
        let name = people.currentLayout.access[Person.name], age = people.currentLayout.access[Person.age]
        var sum = Checksum()
        try snapshot.scan(people.id) { row in
            sum.add(row.bytes(name))
            sum.add(Int(row.int64(age)))
            return true
        }
        return sum.value
    }

    func walkGroups() throws -> UInt64? {
        let snapshot = try store.snapshot()
        let age = people.currentLayout.access[Person.age]
        var sum = Checksum()
        for group in 0..<generator.groupCount {
            key.removeAll()
            key.append(reference: RowReference(table: groups.id, row: UInt64(group + 1)))
            try snapshot.rows(byGroup, .prefix(key.bytes)) { row in
                sum.add(Int(row.int64(age)))
                return true
            }
        }
        return sum.value
    }

    func update(_ numbers: [Int]) throws -> UInt64? {
        try store.write { transaction in
            try inGroups(numbers, transaction) { number in
                try change(transaction, number) { builder, row, layout in
                    builder.set(Person.age, int64: row.int64(layout.access[Person.age]) + 1)
                }
            }
        }
        return UInt64(numbers.count)
    }

    /// Reads the rows of a few hundred numbers ahead, group by group.
    private func inGroups(_ numbers: [Int], _ transaction: Transaction, _ body: (Int) throws -> Void) throws {
        for start in stride(from: 0, to: numbers.count, by: 256) {
            let group = numbers[start..<min(start + 256, numbers.count)]
            group.map(reference).withUnsafeBufferPointer { transaction.base.readAhead($0) }
            for number in group { try body(number) }
        }
    }

    func delete(_ numbers: [Int]) throws -> UInt64? {
        try store.write { transaction in
            try inGroups(numbers, transaction) { number in _ = try transaction.delete(reference(number)) }
        }
        return UInt64(numbers.count)
    }

    func compact() throws -> UInt64? {
        _ = try store.compact()
        return 0
    }
}

/// The engine with relaxed durability: a commit does not wait for the disk.
final class RelaxedEnginePeer: EnginePeer {
    override class var name: String { "RecordLog, relaxed" }
    override var durability: Durability { .relaxed }
}
