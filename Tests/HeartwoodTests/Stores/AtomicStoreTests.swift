import Foundation
import Synchronization
import Testing

@testable import Heartwood

@Suite struct AtomicStoreTests {
    /// Records its calls, and fails on request.
    private final class Notebook: NSAtomicStore, @unchecked Sendable {
        static let isFailing = Mutex(false)
        struct Refusal: Error {}
        var saves = 0
        var removed: [String] = []
        var events: [String] = []
        static let loading = Mutex<@Sendable (Notebook) throws -> Void>({ _ in })

        override var type: String { "Notebook" }
        override func loadMetadata() throws { events.append("loadMetadata") }
        override func didAdd(to coordinator: NSPersistentStoreCoordinator) { events.append("didAdd \(coordinator.persistentStores.count)") }
        override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { events.append("willRemove") }
        override func load() throws { try Self.loading.withLock { $0 }(self) }

        override func save() throws {
            if Self.isFailing.withLock({ $0 }) { throw Refusal() }
            saves += 1
        }

        override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
            let key = managedObject.entity.isKindOf(entity: Self.person(self)) ? "name" : "title"
            return managedObject.value(forKey: key) ?? UUID().uuidString
        }

        private static func person(_ store: Notebook) -> NSEntityDescription {
            store.persistentStoreCoordinator!.managedObjectModel.entitiesByName["Person"]!
        }

        override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
            removed += cacheNodes.map { "\(referenceObject(for: $0.objectID))" }
        }
    }

    private static func open(_ load: @escaping @Sendable (Notebook) throws -> Void = { _ in }) throws -> (Notebook, NSManagedObjectContext) {
        NSPersistentStoreCoordinator.registerStoreClass(Notebook.self, type: NSPersistentStore.StoreType(rawValue: "Notebook"))
        Notebook.loading.withLock { $0 = load }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("notebook-\(UUID())")
        let store = try coordinator.addPersistentStore(ofType: "Notebook", configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (try #require(store as? Notebook), context)
    }

    private func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    private static func entity(_ name: String, _ store: Notebook) -> NSEntityDescription {
        store.persistentStoreCoordinator!.managedObjectModel.entitiesByName[name]!
    }

    /// The tests share the class's switches.
    @Test
    func `Nodes represent the saved objects`() throws {
        let (store, context) = try Self.open()
        #expect(store.identifier.isEmpty == false && store.metadata[NSStoreTypeKey] as? String == "Notebook")
        let group = insert("Group", ["title": "g"], context)
        let ada = insert("Person", ["name": "ada", "age": 36, "group": group], context)
        let bob = insert("Person", ["name": "bob", "partner": ada], context)
        let first = insert("Task", ["title": "first", "owner": ada], context)
        let second = insert("Task", ["title": "second", "owner": ada], context)
        try context.save()
        #expect(store.saves == 1 && store.cacheNodes().count == 5)
        let node = try #require(store.cacheNode(for: ada.objectID))
        #expect(store.referenceObject(for: ada.objectID) as? String == "ada")
        #expect(ada.objectID.uriRepresentation().path == "/Person/pada")
        #expect(node.value(forKey: "age") as? Int == 36)
        #expect((node.value(forKey: "group") as? NSAtomicStoreCacheNode)?.objectID == group.objectID)
        #expect((node.value(forKey: "partner") as? NSAtomicStoreCacheNode)?.objectID == bob.objectID)
        #expect(store.cacheNode(for: group.objectID)?.value(forKey: "people") as? Set<NSAtomicStoreCacheNode> == [node])
        func tasks() -> [NSManagedObjectID] {
            (node.value(forKey: "tasks") as? NSOrderedSet)?.array.compactMap { ($0 as? NSAtomicStoreCacheNode)?.objectID } ?? []
        }
        #expect(tasks() == [first.objectID, second.objectID])
        ada.mutableOrderedSetValue(forKey: "tasks").moveObjects(at: [1], to: 0)
        ada.setValue(37, forKey: "age")
        context.delete(bob)
        try context.save()
        #expect(tasks() == [second.objectID, first.objectID] && node.value(forKey: "age") as? Int == 37)
        #expect(node.value(forKey: "partner") is NSNull && store.cacheNodes().count == 4 && store.removed == ["bob"])
        #expect(store.cacheNode(for: ada.objectID) === node && context.persistentStoreCoordinator?.managedObjectID(
            forURIRepresentation: ada.objectID.uriRepresentation()) == ada.objectID)

        // A save that throws has no effect.
        Notebook.isFailing.withLock { $0 = true }
        defer { Notebook.isFailing.withLock { $0 = false } }
        let carl = insert("Person", ["name": "carl", "group": group], context)
        ada.setValue(38, forKey: "age")
        context.delete(first)
        #expect(throws: Notebook.Refusal.self) { try context.save() }
        #expect(context.hasChanges && carl.isInserted && ada.isUpdated && first.isDeleted)
        #expect(store.cacheNodes().count == 4 && node.value(forKey: "age") as? Int == 37 && tasks().count == 2)
        #expect(store.cacheNode(for: group.objectID)?.value(forKey: "people") as? Set<NSAtomicStoreCacheNode> == [node])
        let reader = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        reader.persistentStoreCoordinator = context.persistentStoreCoordinator
        #expect(try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
        Notebook.isFailing.withLock { $0 = false }
        try context.save()
        #expect(store.cacheNodes().count == 4 && node.value(forKey: "age") as? Int == 38 && tasks() == [second.objectID])
        #expect(try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)

        // Reference objects that are in use.
        let again = insert("Person", ["name": "carl"], context)
        #expect(failure { try context.save() }?.localizedDescription.contains("names another object") == true)
        #expect(again.objectID.isTemporaryID)
        context.rollback()

        try loadingChecks()
    }

    /// One side of a relationship is enough; a value that does not fit is an error that names it.
    private func loadingChecks() throws {
        let (store, context) = try Self.open { store in
            func node(_ entity: String, _ name: Any, _ values: [String: Any] = [:]) -> NSAtomicStoreCacheNode {
                let node = NSAtomicStoreCacheNode(objectID: store.objectID(for: Self.entity(entity, store), withReferenceObject: name))
                for (key, value) in values { node.setValue(value, forKey: key) }
                return node
            }
            let tasks = (0..<4).map { node("Task", $0, ["title": "\($0)"]) }
            let tag = node("Tag", "slash/ä", ["label": "l"])
            let ada = node("Person", "ada", ["name": "ada", "tasks": [tasks[2], tasks[0]], "tags": Set([tag])])
            let bob = node("Person", "bob", ["name": "bob", "partner": ada.objectID])
            let group = node("Group", "g", ["title": "g", "people": NSSet(array: [ada, bob])])
            tasks[3].setValue(ada, forKey: "owner")
            tasks[1].setValue(NSNull(), forKey: "owner")
            store.addCacheNodes(Set(tasks + [tag, ada, bob, group]))
            // An ID without a node refers to no object.
            _ = store.objectID(for: Self.entity("Person", store), withReferenceObject: "nobody")
            store.metadata = [NSStoreUUIDKey: "11111111-2222-3333-4444-555555555555", "mine": 1]
        }
        #expect(store.identifier == "11111111-2222-3333-4444-555555555555" && store.metadata["mine"] as? Int == 1)
        func fetch(_ format: String, _ entity: String = "Person") throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: format)
            return try context.fetch(request).compactMap { ($0.value(forKey: entity == "Person" ? "name" : "title")) as? String }.sorted()
        }
        #expect(try fetch("group.title = 'g'") == ["ada", "bob"] && fetch("partner.name = 'bob'") == ["ada"])
        #expect(try fetch("ANY tags.label = 'l'") == ["ada"] && fetch("owner.name = 'ada'", "Task") == ["0", "2", "3"])
        let adaID = store.objectID(for: Self.entity("Person", store), withReferenceObject: "ada")
        let ada = try context.existingObject(with: adaID)
        #expect((ada.value(forKey: "tasks") as? NSOrderedSet)?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } == ["2", "0", "3"])
        let tag = try #require((ada.value(forKey: "tags") as? NSSet)?.anyObject() as? NSManagedObject)
        #expect(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: tag.objectID.uriRepresentation()) == tag.objectID)
        #expect(throws: (any Error).self) {
            try context.existingObject(with: store.objectID(for: Self.entity("Person", store), withReferenceObject: "nobody"))
        }
        let unknown = URL(string: "x-coredata://11111111-2222-3333-4444-555555555555/Person/punheard")!
        #expect(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: unknown) == nil)

        for (key, value, what) in [
            ("age", "old" as Any, "is no Integer 32"), ("group", 5, "neither a node"), ("tags", [1, 2], "neither a node"),
        ] {
            nonisolated(unsafe) let value = value
            let error = failure {
                _ = try Self.open { store in
                    let node = NSAtomicStoreCacheNode(objectID: store.objectID(for: Self.entity("Person", store), withReferenceObject: "p"))
                    node.setValue(value, forKey: key)
                    store.addCacheNodes([node])
                }
            }
            #expect(error?.code == NSPersistentStoreOpenError && error?.localizedDescription.contains(what) == true, "\(String(describing: error))")
            #expect(error?.localizedDescription.contains("/Person/pp") == true)
        }
        let dangling = failure {
            _ = try Self.open { store in
                let node = NSAtomicStoreCacheNode(objectID: store.objectID(for: Self.entity("Person", store), withReferenceObject: "p"))
                node.setValue(store.objectID(for: Self.entity("Group", store), withReferenceObject: "g"), forKey: "group")
                store.addCacheNodes([node])
            }
        }
        #expect(dangling?.localizedDescription.contains("was not loaded") == true)
        #expect(throws: Notebook.Refusal.self) { try Self.open { _ in throw Notebook.Refusal() } }
        let hashes = failure { _ = try Self.open { $0.metadata = [NSStoreModelVersionHashesKey: ["Person": Data([1])]] } }
        #expect(hashes?.code == NSPersistentStoreIncompatibleVersionHashError)
        try context.persistentStoreCoordinator?.remove(store)
        #expect(store.events == ["loadMetadata", "didAdd 1", "willRemove"])
    }

    @Test
    func `A JSON file from another program is a store`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try TestStack(.atomic, at: url)
        let person = first.insert("Person", ["name": "ada"])
        try first.context.save()
        let id = person.objectID.uriRepresentation()
        var text = try String(contentsOf: url, encoding: .utf8)
        #expect(text.contains("\"ada\""))
        text = text.replacingOccurrences(of: "\"ada\"", with: "\"eve\"")
        let edited = url.appendingPathExtension("edited")
        try Data(text.utf8).write(to: edited)
        let second = try TestStack(.atomic, at: edited)
        let found = try second.context.existingObject(with: try #require(second.coordinator.managedObjectID(forURIRepresentation: id)))
        #expect(found.value(forKey: "name") as? String == "eve")
        try Data("{".utf8).write(to: url)
        #expect(throws: (any Error).self) { try TestStack(.atomic, at: url) }
    }

    @Test
    func `Store types are registered and unregistered`() throws {
        let model = TestStack.model()
        func add(_ type: String) throws {
            try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(ofType: type, configurationName: nil, at: nil)
        }
        #expect(failure { try add("Unheard") }?.code == NSPersistentStoreInvalidTypeError)
        NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: "Unheard")
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Unheard"] == DictionaryStore.self)
        try add("Unheard")
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Unheard")
        #expect(failure { try add("Unheard") }?.code == NSPersistentStoreInvalidTypeError)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes.keys.contains(NSBinaryStoreType))
        final class Bare: NSPersistentStore, @unchecked Sendable {}
        NSPersistentStoreCoordinator.registerStoreClass(Bare.self, forStoreType: "Bare")
        #expect(failure { try add("Bare") }?.localizedDescription.contains("NSAtomicStore or NSIncrementalStore") == true)
        let bare = Bare(persistentStoreCoordinator: nil, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
        #expect(failure { try bare.seam.save(SaveBatch(origin: .none) { _ in nil }) }?.code == NSPersistentStoreInvalidTypeError)
        #expect(failure { _ = try bare.seam.reserveRows(for: []) }?.code == NSPersistentStoreInvalidTypeError)
    }
}
