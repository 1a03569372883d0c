import Foundation
@testable import HeartwoodSQLite
import RecordLog
import Testing

@testable import Heartwood

/// The values that a conversion keeps, and those that it reports, store by store.
@Suite struct ConversionDetailTests {
    private static func golden(_ name: String) -> CoreDataStoreFile {
        CoreDataStoreFile(name: name, folder: CoreDataStoreFiles.folder.appendingPathComponent("Goldens"))
    }

    @Test
    func `References that lead nowhere are listed with owner, relationship and key`() throws {
        let report = try ConversionCheck(expected: ExpectedObjects(Self.golden("dangling"))).run()
        #expect(report.dangling.count == 5, "\(report.dangling)")
        #expect(report.dangling.lines.contains { $0.contains("Person p1, team") && $0.contains("row 9 of ZTEAM") }, "\(report.dangling)")
        #expect(report.dangling.lines.contains { $0.contains("Person p1, pet") && $0.contains("row 9 of ZANIMAL") }, "\(report.dangling)")
    }

    @Test
    func `External data whose file is missing is listed and left out`() throws {
        let report = try ConversionCheck(expected: ExpectedObjects(Self.golden("external"))).run()
        #expect(report.missingFiles.count == 1 && report.missingFiles.lines[0].contains("Photo p5, image"), "\(report.missingFiles)")
    }

    @Test(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython))
    func `Values that their type cannot hold are listed with what they become`() throws {
        try CoreDataStoreFiles.withMadeStore("attributes-types") { made in
            #expect(try SQLiteConversion(made.store, model: nil, keepsHistory: false).check().changed.count == 0)
            try CoreDataStoreFiles.execute(
                """
                UPDATE ZTHING SET ZBYTE = 65537, ZTEXT = CAST(X'61C3A4' AS TEXT) WHERE Z_PK = 2;
                UPDATE ZTHING SET ZNUMBER = -4294967297, ZTEXT = CAST(X'61FF62' AS TEXT) WHERE Z_PK = 3;
                UPDATE ZTHING SET ZLARGE = 1.5 WHERE Z_PK = 4; UPDATE ZTHING SET ZLARGE = 2.0, ZWHOLE = 3 WHERE Z_PK = 5;
                """, at: made.store)
            let changed = try SQLiteConversion(made.store, model: nil, keepsHistory: false).check().changed
            #expect(changed.lines == [
                "Thing p2, byte: 65537 becomes 1", "Thing p3, number: -4294967297 becomes -1",
                "Thing p3, text: bytes that are no text become U+FFFD or are left out", "Thing p4, large: 1.5 becomes 1",
            ])
        }
    }

    @Test(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython))
    func `The app's metadata are kept, those of Core Data's file are not`() throws {
        try CoreDataStoreFiles.withMadeStore("metadata") { made in
            _ = try ConversionCheck(expected: ExpectedObjects(made)).run { _, store in
                let metadata = try #require(store.metadata)
                #expect(metadata["com.example.count"] as? Int == 5 && metadata["über"] as? String == "ä")
                #expect(metadata["com.example.nested"] as? [String: [String: Double]] == ["a": ["b": 1.5]])
                #expect(metadata["NSPersistenceFrameworkVersion"] == nil && metadata[NSStoreTypeKey] as? String == NSRecordLogStoreType)
            }
        }
    }

    @Test
    func `New objects get keys that no object has had`() throws {
        try ConversionCheck(expected: ExpectedObjects(Self.golden("inheritance-duplicates"))).run { context, store in
            for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] where !entity.isAbstract {
                let name = entity.name ?? ""
                let family = NSFetchRequest<NSManagedObject>(entityName: entity.chain[0].name ?? "")
                family.includesPendingChanges = false
                let greatest = try context.fetch(family).map(\.objectID.key.row).max() ?? 0
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                try context.obtainPermanentIDs(for: [object])
                #expect(object.objectID.key.row > greatest, "\(name)")
            }
        }
    }

    // MARK: History

    @Test(arguments: ["history", "swiftdata"])
    func `The history comes along with numbers, times, texts, changes and tombstones`(_ name: String) throws {
        let made = Self.golden(name), lines = try #require(try made.transactions())
        let report = try ConversionCheck(expected: ExpectedObjects(made)).run(keepsHistory: true) { context, _ in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let found = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(found.map(\.transactionNumber) == lines.map { ($0["transaction"] as? NSNumber)?.int64Value ?? 0 })
            for (transaction, line) in zip(found, lines) { Self.check(transaction, line) }
        }
        #expect(report.history?.transactions == lines.count && report.history?.isKept == true)
        #expect(try ConversionCheck(expected: ExpectedObjects(made)).run().history?.isKept == false)
    }

    /// Changes come by entity and key, and one object has one change.
    private static func check(_ transaction: NSPersistentHistoryTransaction, _ line: [String: Any]) {
        #expect(transaction.author == line["author"] as? String && transaction.contextName == line["contextName"] as? String)
        #expect(transaction.bundleID == line["bundleID"] as? String ?? "" || line["bundleID"] is NSNull, "\(transaction)")
        let time = ExpectedObjects.seconds(line["date"] as? String ?? "") ?? .nan
        #expect(abs(transaction.timestamp.timeIntervalSinceReferenceDate - time) < 2e-6)
        var wanted: [String: (type: String, updated: Set<String>, tombstone: Set<String>)] = [:]
        for change in line["changes"] as? [[String: Any]] ?? [] {
            let object = change["object"] as? String ?? "", updated = (change["updated"] as? [String] ?? []).map { String($0.prefix { $0 != "." }) }
            let tombstone = (change["tombstone"] as? [String: Any] ?? [:]).filter { !($0.value is NSNull) }.keys
            let before = wanted[object]?.updated ?? []
            wanted[object] = (change["type"] as? String ?? "", before.union(updated), Set(tombstone))
        }
        let changes = transaction.changes ?? []
        #expect(Set(changes.map(Self.object)) == Set(wanted.keys) && changes.count == wanted.count, "\(transaction)")
        for change in changes {
            guard let expected = wanted[object(change)] else { continue }
            #expect("\(change.changeType)" == expected.type, "\(change)")
            let toManys = Set(change.changedObjectID.entity.relationshipsByName.values.filter(\.isToMany).map(\.name))
            #expect(Set((change.updatedProperties ?? []).map(\.name)).subtracting(toManys) == expected.updated.subtracting(toManys), "\(change)")
            #expect(Set((change.tombstone ?? [:]).keys.compactMap { $0 as? String }) == expected.tombstone, "\(change)")
        }
    }

    private static func object(_ change: NSPersistentHistoryChange) -> String {
        "\(change.changedObjectID.entity.name ?? "")/\(change.changedObjectID.key.row)"
    }

    // MARK: Uniqueness

    @Test(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython))
    func `Objects with the same unique values are listed, and nothing is converted`() throws {
        try CoreDataStoreFiles.withMadeStore("constraints-indexes") { made in
            let indexes = try CoreDataStoreFiles.run([
                "-c", "import sqlite3, sys\nfor r in sqlite3.connect(sys.argv[1]).execute(\"select name from sqlite_master where name like "
                    + "'Z_%_UNIQUE_%'\"): print(r[0])", made.store.path,
            ]).split(separator: "\n")
            let drops = indexes.map { "DROP INDEX \"\($0)\";" }.joined()
            // A City has the code of a Place; two Cities have one name, and two have none.
            try CoreDataStoreFiles.execute(
                drops + "UPDATE ZPLACE SET ZCODE = 'a' WHERE Z_PK = 2; UPDATE ZPLACE SET ZNAME = 'Ulm' WHERE Z_PK = 3;", at: made.store)
            let conversion = SQLiteConversion(made.store, model: nil, keepsHistory: false)
            let new = made.folder.appendingPathComponent("New.heartwood")
            let dry = try conversion.check()
            let error = #expect(throws: NSError.self) { try conversion.run(to: new) }
            #expect(error?.code == NSMigrationConstraintViolationError)
            #expect(dry.repetitions.count == 3, "\(dry.repetitions)")
            for line in dry.repetitions.lines { #expect(error?.localizedDescription.contains(line) == true, "\(line)") }
            #expect(dry.repetitions.lines.contains { $0.contains("City p3") && $0.contains("City p2") }, "\(dry.repetitions)")
            #expect(!FileManager.default.fileExists(atPath: new.path))
        }
    }

    // MARK: Versions

    @Test
    func `A store of an older version is brought to the given one, by renaming identifiers too`() throws {
        let made = Self.golden("swiftdata"), stored = try CoreDataStoreModel.find(storeAt: made.store.path).model
        let newer = try #require(stored.copy() as? NSManagedObjectModel)
        let entity = try #require(newer.entities.first { !$0.attributesByName.isEmpty }), name = try #require(entity.name)
        entity.name = "Renamed"
        entity.renamingIdentifier = name
        let extra = NSAttributeDescription()
        (extra.name, extra.attributeType, extra.isOptional) = ("extra", .stringAttributeType, true)
        entity.properties.append(extra)
        try CoreDataStoreFiles.withFolder { folder in
            let new = folder.appendingPathComponent("New.heartwood")
            try SQLiteConversion(made.store, model: (newer, folder), keepsHistory: false).run(to: new)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
            try coordinator.addPersistentStore(type: .recordLog, at: new)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            let expected = (try made.summary()["counts"] as? [String: Int])?[name] ?? 0
            let count = try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Renamed")) }
            #expect(count == expected)
        }
    }

    @Test(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)"))
    func `The objects of a store whose cache names no classes are of NSManagedObject`() throws {
        let folder = "cartkit-swiftdata", name = try #require(try SharedStores.expected(folder).first?["store"] as? String)
        let found = try CoreDataStoreModel.find(storeAt: SharedStores.folder.appendingPathComponent(folder).appendingPathComponent(name).path)
        #expect(found.origin == .cache)
        #expect(found.model.entities.allSatisfy { $0.managedObjectClassName == "NSManagedObject" })
    }

    @Test
    func `A file at the new URL is left as it is; an empty one is replaced`() throws {
        let made = Self.golden("dangling")
        try CoreDataStoreFiles.withFolder { folder in
            let new = folder.appendingPathComponent("New.heartwood")
            try Data("mine".utf8).write(to: new)
            let error = #expect(throws: NSError.self) { try SQLiteConversion(made.store, model: nil, keepsHistory: false).run(to: new) }
            #expect(error?.code == NSPersistentStoreOperationError)
            #expect(try Data(contentsOf: new) == Data("mine".utf8))
            try Data().write(to: new)
            try SQLiteConversion(made.store, model: nil, keepsHistory: false).run(to: new)
            #expect(try StoreVerification.verify(path: new.path).isSound)
        }
    }
}
