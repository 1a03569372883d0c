import Foundation
import RecordLog
import Synchronization
import Testing

@testable import Heartwood

@Suite struct MigrationTests {
    /// Inserts every kind of relationship and value of the test model.
    private func fill(_ stack: TestStack) throws {
        let groups = (0..<3).map { stack.insert("Group", ["title": "g\($0)"]) }
        let tags = (0..<4).map { stack.insert("Tag", ["label": "t\($0)"]) }
        var people: [NSManagedObject] = []
        for number in 0..<12 {
            let person = stack.insert(number % 5 == 4 ? "Employee" : "Person", ["name": "p\(number)", "age": number, "email": "\(number)@x"])
            if number % 4 != 3 { person.setValue(groups[number % 3], forKey: "group") }
            person.setValue(Set([tags[number % 4], tags[(number + 1) % 4]]) as NSSet, forKey: "tags")
            let tasks = (0..<number % 3).map { stack.insert("Task", ["title": "p\(number)-\($0)"]) }
            person.setValue(NSOrderedSet(array: tasks.reversed()), forKey: "tasks")
            if number % 2 == 1 { person.setValue(people[number - 1], forKey: "partner") }
            people.append(person)
        }
        people[1].setValue(nil, forKey: "age")
        stack.insert("Everything", [
            "int16": 1, "int32": 2, "int64": Int64.max, "double": 0.5, "float": 0.25, "decimal": NSDecimalNumber(string: "1.50"),
            "string": "ä", "bool": true, "date": Date(timeIntervalSinceReferenceDate: 9), "data": Data([1, 2]), "uuid": UUID(),
            "uri": try #require(URL(string: "https://x.y")), "transformable": ["a", "b"] as NSArray,
        ])
        try stack.context.save()
        stack.context.delete(people[11])
        try stack.context.save()
    }

    /// Everything in a coordinator's stores as text, without IDs.
    private func dump(_ context: NSManagedObjectContext) throws -> [String] {
        func label(_ object: NSManagedObject?) -> String {
            guard let object else { return "-" }
            let names = ["name", "title", "label"].filter { object.entity.propertiesByName[$0] != nil }
            return "\(object.entity.name ?? "").\(names.map { "\(object.value(forKey: $0) ?? "nil")" }.joined())"
        }
        var lines: [String] = []
        for entity in ["Person", "Group", "Tag", "Task", "Everything"] {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                var line = label(object)
                for property in object.entity.properties {
                    if let relationship = property as? NSRelationshipDescription {
                        let members: [String] = if !relationship.isToMany {
                            [label(object.value(forKey: relationship.name) as? NSManagedObject)]
                        } else if relationship.isOrdered {
                            object.mutableOrderedSetValue(forKey: relationship.name).array.map { label($0 as? NSManagedObject) }
                        } else {
                            object.mutableSetValue(forKey: relationship.name).allObjects.map { label($0 as? NSManagedObject) }.sorted()
                        }
                        line += " \(relationship.name)=\(members)"
                    } else {
                        line += " \(property.name)=\(object.value(forKey: property.name) ?? "nil")"
                    }
                }
                lines.append(line)
            }
        }
        return lines.sorted()
    }

    @Test(arguments: StoreKind.allCases, StoreKind.allCases.filter { $0 != .incremental })
    func `A store migrates to another type with everything in it`(from: StoreKind, to: StoreKind) throws {
        let stack = try TestStack(from), scratch = try ScratchDirectory()
        try fill(stack)
        let before = try dump(stack.context), old = stack.persistentStore
        stack.coordinator.setMetadata(["note": "mine"], for: old)
        let heard = Heard([.NSPersistentStoreCoordinatorStoresDidChange], of: stack.coordinator)
        let url = to == .postgreSQL ? to.newURL : scratch["new.heartwood"]
        defer { to.remove(at: url) }
        let new = try stack.coordinator.migratePersistentStore(old, to: url, options: nil, withType: to.type)
        #expect(stack.coordinator.persistentStores == [new] && new.type == to.type && old.persistentStoreCoordinator == nil)
        let change = heard.take()?.userInfo
        #expect(change?[NSAddedPersistentStoresKey] as? [NSPersistentStore] == [new], "told at once")
        #expect(change?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] == [old])
        #expect((change?[NSUUIDChangedPersistentStoresKey] as? [Any])?.prefix(2).map { $0 as? NSPersistentStore } == [old, new])
        #expect(new.identifier != old.identifier && new.metadata["note"] as? String == "mine")
        #expect(new.metadata[NSStoreUUIDKey] as? String == new.identifier && new.metadata[NSStoreTypeKey] as? String == to.type)
        #expect(scratch.names == (to.hasFile ? ["new.heartwood"] : []))
        let context = stack.coordinator.newContext()
        #expect(try dump(context) == before)
        // The store is written to and read back.
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue("later", forKey: "name")
        try context.save()
        #expect(try dump(stack.coordinator.newContext()).count == before.count + 1)
        if from == .recordLog {
            let again = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
            try again.addPersistentStore(type: .recordLog, at: stack.url)
            #expect(try dump(again.newContext()) == before, "the old store's file is as it was")
        }
        if to == .recordLog {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: scratch["new.heartwood"])
            #expect(metadata[NSStoreUUIDKey] as? String == new.identifier)
            try stack.coordinator.remove(new)
            #expect(try StoreVerification.verify(path: scratch["new.heartwood"].path).isSound)
        }
    }

    @Test(arguments: StoreKind.planning.filter(\.isFile))
    func `An empty store migrates to another type too`(to: StoreKind) throws {
        let stack = try TestStack(.inMemory), scratch = try ScratchDirectory()
        stack.coordinator.setMetadata(["note": "mine"], for: stack.persistentStore)
        try stack.coordinator.migratePersistentStore(stack.persistentStore, to: scratch["new"], options: nil, withType: to.type)
        #expect(scratch.names == ["new"])
        let again = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let read = try again.addPersistentStore(ofType: to.type, configurationName: nil, at: scratch["new"])
        #expect(read.metadata["note"] as? String == "mine")
    }

    /// A store of titles by its URL, as a service has them.
    private final class Service: NSIncrementalStore, @unchecked Sendable {
        static let titles = Mutex<[URL: [String: String]]>([:])

        override var type: String { "Service" }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
            guard let url else { throw CocoaError(.fileNoSuchFile) }
            if let changes = request as? NSSaveChangesRequest {
                for object in changes.insertedObjects ?? [] {
                    let title = object.value(forKey: "title") as? String ?? "-"
                    Self.titles.withLock { $0[url, default: [:]]["\(referenceObject(for: object.objectID))"] = title }
                }
                return []
            }
            guard let entity = (request as? NSFetchRequest<any NSFetchRequestResult>)?.entity, entity.name == "Group" else { return [] }
            return Self.titles.withLock { $0[url] ?? [:] }.keys.map { newObjectID(for: entity, referenceObject: $0) }
        }

        override func newValuesForObject(
            with objectID: NSManagedObjectID, with context: NSManagedObjectContext
        ) throws -> NSIncrementalStoreNode {
            let title = url.flatMap { url in Self.titles.withLock { $0[url]?["\(referenceObject(for: objectID))"] } }
            return NSIncrementalStoreNode(objectID: objectID, withValues: ["title": title ?? NSNull()], version: 1)
        }

        override func newValue(
            forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
            with context: NSManagedObjectContext?
        ) throws -> Any { relationship.isToMany ? [NSManagedObjectID]() : NSNull() }
    }

    @Test
    func `An incremental store is written at its URL itself`() throws {
        NSPersistentStoreCoordinator.registerStoreClass(Service.self, forStoreType: "Service")
        let stack = try TestStack(.inMemory), scratch = try ScratchDirectory()
        for title in ["a", "b"] { stack.insert("Group", ["title": title]) }
        try stack.context.save()
        try stack.coordinator.migratePersistentStore(stack.persistentStore, to: scratch["new"], options: nil, withType: "Service")
        let context = stack.coordinator.newContext()
        let groups = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Group"))
        #expect(Set(groups.map { $0.value(forKey: "title") as? String }) == ["a", "b"] && scratch.names == [])
        #expect(Service.titles.withLock { Array($0.keys) } == [scratch["new"]])
    }

    /// The copy for store types that do not know each other, forced on types that do.
    @Test(arguments: StoreKind.allCases)
    func `Objects are copied one by one`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        try fill(stack)
        let target = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        let scratch = try ScratchDirectory()
        let urls = ["copy", "beside"].map { kind == .postgreSQL ? kind.newURL : scratch[$0] }
        defer { urls.forEach(kind.remove) }
        try target.addPersistentStore(ofType: kind.type, configurationName: nil, at: urls[0])
        // Another store with the same entities is not copied.
        try stack.coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: urls[1])
        try ObjectCopy(store: stack.persistentStore, of: stack.coordinator, to: target).run()
        #expect(try dump(target.newContext()) == dump(stack.context))
    }

    @Test(.serialized, arguments: StoreKind.allCases)
    func `A copy calls no methods of the objects' classes`(kind: StoreKind) throws {
        let model = TestStack.model()
        model.entitiesByName["Person"]?.managedObjectClassName = NSStringFromClass(LoudPerson.self)
        model.entitiesByName["Group"]?.attributesByName["title"]?.isOptional = false
        let stack = try TestStack(kind, model: model)
        stack.insert("Person", ["name": "a", "email": "e"])
        try stack.context.save()
        let target = NSPersistentStoreCoordinator(managedObjectModel: model)
        let made = try target.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let calls = LoudPerson.calls
        try ObjectCopy(store: stack.persistentStore, of: stack.coordinator, to: target).run()
        #expect(LoudPerson.calls == calls)
        #expect(try target.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
        try target.remove(made)
    }

    @Test(arguments: [NSRecordLogStoreType, NSInMemoryStoreType])
    func `Rows of a record log are copied as they are`(type: String) throws {
        let stack = try TestStack(.recordLog), scratch = try ScratchDirectory()
        try fill(stack)
        func rows() throws -> [String] {
            let people = try stack.coordinator.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            return people.map { "\($0.value(forKey: "name") ?? "") \($0.objectID.uriRepresentation().lastPathComponent) \($0.rowVersion)" }
        }
        let before = try rows(), log = try #require(stack.store.log)
        let reads = stack.rowReads, snapshot = log.snapshot()
        let all = snapshot.catalog.tables.reduce(snapshot.rowCount(TableID(rawValue: 0))) { $0 + snapshot.rowCount($1.id) }
        try stack.coordinator.migratePersistentStore(stack.persistentStore, to: scratch["new"], options: nil, withType: type)
        #expect(log.statistics.rowReads - reads <= all + 2, "each is walked over once; the metadata and the catalog are read besides")
        #expect(try rows() == before, "numbers and versions are kept")
    }

    @Test
    func `A file at the destination is left as it is`() throws {
        let stack = try TestStack(.recordLog), scratch = try ScratchDirectory()
        try fill(stack)
        try Data("letter".utf8).write(to: scratch["letter"])
        let before = scratch.contents
        let cases: [(URL, String, Int)] = [
            (scratch["letter"], NSRecordLogStoreType, NSPersistentStoreOperationError),
            (scratch.directory, NSRecordLogStoreType, NSPersistentStoreOperationError),
            (stack.url, NSRecordLogStoreType, NSPersistentStoreOperationError),
            (scratch["none/new"], NSRecordLogStoreType, NSPersistentStoreOperationError),
            (scratch["new"], "Paper", NSPersistentStoreInvalidTypeError),
        ]
        for (url, type, wanted) in cases {
            let error = #expect(throws: (any Error).self) {
                try stack.coordinator.migratePersistentStore(stack.persistentStore, to: url, options: nil, withType: type)
            }
            #expect(code(error) == wanted, "\(url.path): \(error.map { "\($0)" } ?? "")")
            #expect(scratch.contents == before && stack.coordinator.persistentStores.count == 1)
        }
        #expect(try stack.names().count == 11)
        let other = try TestStack(.inMemory)
        #expect(throws: (any Error).self) {
            try other.coordinator.migratePersistentStore(stack.persistentStore, to: scratch["new"], type: .recordLog)
        }
        #expect(scratch.contents == before)
    }

    @Test(arguments: StoreKind.recordLogs)
    func `Metadata that no save has written is copied too`(kind: StoreKind) throws {
        let stack = try TestStack(kind), scratch = try ScratchDirectory()
        stack.persistentStore.metadata = ["note": "kept"]
        let new = try stack.coordinator.migratePersistentStore(
            stack.persistentStore, to: scratch["new"], options: nil, withType: NSRecordLogStoreType)
        #expect(new.metadata["note"] as? String == "kept" && new.metadata[NSStoreUUIDKey] as? String == new.identifier)
    }

    @Test(arguments: StoreKind.allCases)
    func `Objects of the old store belong to a removed store`(kind: StoreKind) throws {
        let stack = try TestStack(kind), scratch = try ScratchDirectory()
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        try stack.coordinator.migratePersistentStore(stack.persistentStore, to: scratch["new"], options: nil, withType: NSRecordLogStoreType)
        person.setValue("b", forKey: "name")
        #expect(code(#expect(throws: (any Error).self) { try stack.context.save() }) == NSPersistentStoreOperationError)
        stack.context.reset()
        #expect(try stack.names() == ["a"])
    }
}

/// Counts the calls that a copy must not make.
final class LoudPerson: NSManagedObject {
    nonisolated(unsafe) static var calls = 0

    override func awakeFromInsert() { Self.calls += 1 }
    override func awakeFromFetch() { Self.calls += 1 }
    override func willSave() { Self.calls += 1 }
    override func validateForInsert() throws { Self.calls += 1 }
}
