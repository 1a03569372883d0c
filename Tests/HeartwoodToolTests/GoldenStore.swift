import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Writes the golden store: the same objects in the same order each time, so that two results differ only in their random identities and times.
struct GoldenStore {
    let url: URL
    private var coordinator: NSPersistentStoreCoordinator
    private var context: NSManagedObjectContext

    /// Makes a new file with the smallest segments, so that the log crosses from one segment to the next.
    init(creating url: URL) throws {
        self.url = url
        var options = StoreOptions()
        options.segmentShift = 16
        try LogStore.open(path: url.path, options: options).close()
        (coordinator, context) = try Self.open(url, GoldenModel.make(hasNicknames: false))
    }

    /// Opens an existing store.
    init(opening url: URL) throws {
        self.url = url
        (coordinator, context) = try Self.open(url, GoldenModel.make())
    }

    private static func open(_ url: URL, _ model: NSManagedObjectModel) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (coordinator, context)
    }

    var log: LogStore? { coordinator.persistentStores.first?.recordLog }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: Contents

    /// Makes every commit of the golden store.
    mutating func fill() throws {
        try addPeople()
        try addEverything()
        try addEntries()
        try log?.checkpoint()
        try addNicknames()
        try changeSome()
        try log?.checkpoint()
        try changeMore()
        try changeLast()
    }

    @discardableResult
    private func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { object.setValue(value, forKey: key) }
        return object
    }

    private func find(_ entity: String, _ key: String, _ value: any CVarArg) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "\(key) == %@", value)
        return try #require(try context.fetch(request).first)
    }

    private func all(_ entity: String) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    private func save(as author: String? = nil) throws {
        context.transactionAuthor = author
        try context.save()
    }

    private static func photo(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * $0 / 7 + count) })
    }

    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    private func addPeople() throws {
        let labels = ["red", "blå", "青 😀", ""]
        let tags = labels.map { insert("Tag", ["label": $0, "name": "tag \($0)"]) }
        let teams = [
            insert("Team", ["number": 7, "title": "Größe", "founded": Self.date(0)]),
            insert("Team", ["number": -2, "title": "Größe", "founded": Self.date(86_400.5)]), insert("Team", ["title": "without a number"]),
        ]
        // In the row, in one chunk, and in a list of chunks.
        let places = [(51.5, 600), (-33.875, 2000), (0, 17_000)].map { insert("Place", ["latitude": $0, "photo": Self.photo($1)]) }
        let ada = insert("Employee", ["name": "Ada", "email": "ada@example.org", "salary": NSDecimalNumber(string: "1200.50"), "team": teams[0]])
        let grace = insert("Employee", ["name": "Grace", "email": "grace@example.org", "salary": NSDecimalNumber(string: "-3"), "team": teams[1]])
        let lin = insert("Employee", ["name": "林", "email": "lin@example.org", "team": teams[2], "birthday": Self.date(-1_000_000.25)])
        let alan = insert("Person", ["name": "Alan", "email": "alan@example.org", "birthday": Self.date(-2_800_000_000), "boss": ada])
        let nobody = insert("Person", ["birthday": Self.date(5), "boss": grace])
        insert("Person", ["name": "Gone", "email": "gone@example.org", "tags": Set([tags[0]])])
        ada.setValue(Set([tags[0], tags[2]]), forKey: "tags")
        tags[2].setValue(Set([tags[1]]), forKey: "tags")
        alan.setValue(Set(tags), forKey: "tags")
        alan.setValue(ada, forKey: "partner")
        grace.setValue(Set([ada, alan]), forKey: "friends")
        nobody.setValue(Set([tags[1], tags[3]]), forKey: "watched")
        lin.setValue(lin, forKey: "boss")
        alan.setValue(NSOrderedSet(array: ["first", "second", "third"].map { insert("Task", ["title": $0, "isDone": false]) }), forKey: "tasks")
        ada.setValue(NSOrderedSet(array: [places[2], places[0], places[1]]), forKey: "route")
        grace.setValue(NSOrderedSet(array: [places[1]]), forKey: "route")
        try save(as: "Zoë")
    }

    /// Adds each type's ordinary, empty, least and largest values, and values that are hard to write.
    private func addEverything() throws {
        insert("Everything", [
            "int16": 16, "int32": 32, "int64": 64, "decimal": NSDecimalNumber(string: "12345.6789"), "double": 0.1, "float": Float(0.1),
            "string": "plain", "bool": true, "date": Self.date(800_000_000.125), "data": Data([1, 2, 3]),
            "uuid": uuid("00112233-4455-6677-8899-AABBCCDDEEFF"), "uri": url("https://example.org/a?b=c#d"),
            "object": NSString(string: "archived ü"),
        ])
        insert("Everything", [:])
        insert("Everything", [
            "int16": 0, "int32": 0, "int64": 0, "decimal": NSDecimalNumber.zero, "double": 0.0, "float": Float(0), "string": "", "bool": false,
            "date": Self.date(0), "data": Data(), "uuid": uuid("00000000-0000-0000-0000-000000000000"), "object": NSString(string: ""),
        ])
        insert("Everything", [
            "int16": Int16.min, "int32": Int32.min, "int64": Int64.min,
            "decimal": NSDecimalNumber(string: "-99999999999999999999999999999999999999"),
            "double": -Double.greatestFiniteMagnitude, "float": -Float.infinity, "string": "\u{0}", "date": Self.date(-10_000_000_000),
            "data": Data([0]), "uuid": uuid("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"),
        ])
        insert("Everything", [
            "int16": Int16.max, "int32": Int32.max, "int64": Int64.max,
            "decimal": NSDecimalNumber(string: "99999999999999999999999999999999999999e-50"),
            "double": Double.nan, "float": Float.leastNonzeroMagnitude, "string": "a\u{0}b\u{0}\u{0}\u{FF}", "date": Self.date(-0.25),
            "data": Data([0, 0xFF, 0, 0, 1]),
        ])
        insert("Everything", ["double": -0.0, "decimal": NSDecimalNumber.notANumber, "string": "e\u{301} \u{10FFFF} \u{202E}שלום\n\"\\/\u{7F}"])
        insert("Everything", ["double": 9_007_199_254_740_994.0, "decimal": NSDecimalNumber(string: "-7e30"), "string": "deleted later"])
        try save()
    }

    /// Adds enough for several frames, index blocks and segments.
    private func addEntries() throws {
        for number in 0..<100 {
            let text = "entry \(number * 7919 % 1000) of the golden store, " + String(repeating: "\u{1F332}", count: number % 13)
            let entry = insert("Entry", ["text": text, "size": (number % 2 == 0 ? 1 : -1) * number * number])
            if number % 40 == 10 { entry.setValue(String(repeating: "\(number) ", count: 6000), forKey: "body") }
        }
        try save(as: "an author")
    }

    /// Adds a layout: the model's second version, installed by hand.
    private mutating func addNicknames() throws {
        let model = GoldenModel.make()
        model.makeImmutable()
        guard let log else { return }
        try log.write { transaction in
            for name in ["Person", "Employee"] {
                guard let table = transaction.catalog.table(named: name) else { continue }
                let added = Column(id: ColumnID(rawValue: 0), name: "nickname", type: .text)
                let layout = try transaction.addLayout(to: table.id, columns: table.currentLayout.columns + [added])
                guard let column = layout.columns.last else { continue }
                _ = try transaction.defineIndex(
                    named: RecordLogNames.index("byNickname"), on: table.id, parts: [IndexPart(column: column.id, ascending: false)])
            }
            let metadata = RecordLogMetadata.initial(identifier: log.storeID, type: NSRecordLogStoreType, model: model, configuration: nil)
            try transaction.setSystemValue(RecordLogSystemRow.metadata, try RecordLogMetadata.encode(metadata))
            try transaction.setSystemValue(RecordLogSystemRow.model, try model.archivedBytes())
            try transaction.setSystemValue(
                RecordLogSystemRow.modelChecksum, Array(RecordLogMetadata.checksum(of: model, configuration: nil).utf8))
        }
        try close()
        (coordinator, context) = try Self.open(url, model)
    }

    private func changeSome() throws {
        let alan = try find("Person", "email", "alan@example.org"), ada = try find("Person", "email", "ada@example.org")
        alan.setValue("Prof", forKey: "nickname")
        alan.setValue("Alan M.", forKey: "name")
        ada.setValue(nil, forKey: "team")
        ada.setValue(Set([try find("Tag", "label", "blå")]), forKey: "tags")
        context.delete(try find("Person", "email", "gone@example.org"))
        context.delete(try find("Everything", "string", "deleted later"))
        for (position, entry) in try all("Entry").enumerated() {
            if position % 5 == 0 { context.delete(entry) }
            if position % 7 == 1 { entry.setValue(position, forKey: "size") }
        }
        try save(as: "Zoë")
        // A photo that stays, and one that replaces another.
        for place in try all("Place") {
            switch place.value(forKey: "latitude") as? Double {
            case 0: place.setValue(12.25, forKey: "latitude")
            case 51.5: place.setValue(Self.photo(1500), forKey: "photo")
            default: break
            }
        }
        try save()
        // A system value that is removed and set again, and a row of a table that is dropped.
        try log?.write { try $0.setSystemValue(20, [1, 2, 3]) }
        try log?.write { transaction in
            try transaction.setSystemValue(20, nil)
            let table = try transaction.defineTable(name: "dropped", columns: [("value", .int32)])
            let builder = RowBuilder()
            builder.begin(table.currentLayout)
            builder.set(0, int64: 1)
            try transaction.put(RowReference(table: table.id, row: try transaction.newRow(in: table.id)), body: builder.unsafeBody())
        }
        try log?.write { transaction in
            try transaction.setSystemValue(20, [4])
            if let table = transaction.catalog.table(named: "dropped") { try transaction.dropTable(table.id) }
        }
    }

    private func changeMore() throws {
        let alan = try find("Person", "email", "alan@example.org")
        let tasks = (alan.value(forKey: "tasks") as? NSOrderedSet)?.array ?? []
        alan.setValue(NSOrderedSet(array: tasks.reversed() + [insert("Task", ["title": "fourth", "isDone": true])]), forKey: "tasks")
        let nobody = try all("Person").first { $0.value(forKey: "email") == nil }
        nobody?.setValue("", forKey: "nickname")
        nobody?.setValue(try find("Person", "email", "ada@example.org"), forKey: "partner")
        try save()
    }

    private func changeLast() throws {
        insert("Employee", [
            "name": "Newest", "email": "new@example.org", "nickname": "n\u{0}w", "team": try find("Team", "number", 7),
            "salary": NSDecimalNumber(string: "0.001"),
        ])
        try find("Tag", "label", "").setValue("no longer empty", forKey: "label")
        try save(as: "the last")
    }

    /// Adds one more commit, for a tail that is torn off in its middle.
    func addTail() throws {
        for number in 0..<20 { insert("Task", ["title": "never there \(number)"]) }
        try save()
    }

    private func uuid(_ text: String) -> UUID { UUID(uuidString: text) ?? UUID() }
    private func url(_ text: String) -> URL { URL(string: text) ?? url }
}
