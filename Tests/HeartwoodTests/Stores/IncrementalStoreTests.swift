import Foundation
import Synchronization
import Testing

@testable import Heartwood

@Suite struct IncrementalStoreTests {
    /// One entity's values by number; counts its requests, and fails or refuses on request.
    private final class Shelf: NSIncrementalStore, @unchecked Sendable {
        struct Refusal: Error {}
        struct Box {
            var name: String
            var version: UInt64
        }

        var boxes: [Int: Box] = [1: Box(name: "one", version: 1), 2: Box(name: "two", version: 1), 3: Box(name: "three", version: 1)]
        var values: [NSManagedObjectID] = []
        var requests: [NSFetchRequestResultType] = []
        var saves: [NSSaveChangesRequest] = []
        var registered: [NSManagedObjectID: Int] = [:]
        var registrations = 0
        var failsReading = false
        var failsSaving = false
        var answersAll = true
        var conflictsOnce = false

        override var type: String { "Shelf" }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
            if let changes = request as? NSSaveChangesRequest {
                saves.append(changes)
                if failsSaving { throw Refusal() }
                if conflictsOnce, let object = changes.updatedObjects?.first {
                    conflictsOnce = false
                    boxes[number(object.objectID)]?.version += 1
                    let conflict = NSMergeConflict(source: object, newVersion: 2, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
                    throw NSError(
                        domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError,
                        userInfo: [NSPersistentStoreSaveConflictsErrorKey: [conflict]])
                }
                for object in (changes.insertedObjects ?? []).union(changes.updatedObjects ?? []) {
                    let version = (boxes[number(object.objectID)]?.version ?? 0) + 1
                    boxes[number(object.objectID)] = Box(name: object.value(forKey: "label") as? String ?? "", version: version)
                }
                for object in changes.deletedObjects ?? [] { boxes[number(object.objectID)] = nil }
                return []
            }
            guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity else { return [] }
            requests.append(fetch.resultType)
            guard answersAll || fetch.predicate == nil && fetch.resultType == .managedObjectResultType else {
                throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
            }
            let ids = entity.name == "Tag" ? boxes.keys.sorted().map { newObjectID(for: entity, referenceObject: $0) } : []
            switch fetch.resultType {
            case .countResultType: return [ids.count]
            case .managedObjectIDResultType: return ids
            case .dictionaryResultType: return ids.map { ["label": boxes[number($0)]?.name ?? ""] }
            default: return ids.compactMap { context?.object(with: $0) }
            }
        }

        private func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? 0 }

        override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
            values.append(objectID)
            if failsReading { throw Refusal() }
            guard let box = boxes[number(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
            return NSIncrementalStoreNode(objectID: objectID, withValues: ["label": box.name], version: box.version)
        }

        override func newValue(
            forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
                with context: NSManagedObjectContext?
        ) throws -> Any { [] }

        override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
            let next = (boxes.keys.max() ?? 0) + 1
            return array.enumerated().map { newObjectID(for: $1.entity, referenceObject: next + $0) }
        }

        override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
            registrations += 1
            for id in objectIDs { registered[id, default: 0] += 1 }
        }

        override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
            for id in objectIDs { registered[id, default: 0] -= 1 }
        }
    }

    private func open() throws -> (Shelf, NSManagedObjectContext) {
        NSPersistentStoreCoordinator.registerStoreClass(Shelf.self, forStoreType: "Shelf")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try coordinator.addPersistentStore(ofType: "Shelf", configurationName: nil, at: nil)
        return (try #require(store as? Shelf), context(on: coordinator))
    }

    @Test
    func `A store is added with the metadata that it loads, and is not added where it cannot load them`() throws {
        final class Labelled: NSIncrementalStore, @unchecked Sendable {
            struct Unreadable: Error {}

            override func loadMetadata() throws {
                guard let label = url?.lastPathComponent, label != "unreadable" else { throw Unreadable() }
                metadata = [NSStoreUUIDKey: label, NSStoreTypeKey: type]
            }
        }
        NSPersistentStoreCoordinator.registerStoreClass(Labelled.self, forStoreType: "Labelled")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        func add(_ label: String) throws -> NSPersistentStore {
            try coordinator.addPersistentStore(ofType: "Labelled", configurationName: nil, at: URL(fileURLWithPath: "/labels/\(label)"))
        }
        #expect(throws: Labelled.Unreadable.self) { try add("unreadable") }
        #expect(coordinator.persistentStores.isEmpty)
        let store = try add("first")
        #expect(store.identifier == "first" && coordinator.metadata(for: store)[NSStoreUUIDKey] as? String == "first")
    }

    /// One person and its group, which the person's node includes or leaves out.
    private final class Pair: NSIncrementalStore, @unchecked Sendable {
        var nodeHasGroup = false
        var asked: [String] = []

        func id(_ entity: String) -> NSManagedObjectID {
            newObjectID(for: persistentStoreCoordinator!.managedObjectModel.entitiesByName[entity]!, referenceObject: 1)
        }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any { [] }

        override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
            var values: [String: Any] = objectID.entity.name == "Person" ? ["name": "ann", "age": 7, "partner": NSNull()] : ["title": "g"]
            if nodeHasGroup { values["group"] = id("Group") }
            return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: 1)
        }

        override func newValue(
            forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
                with context: NSManagedObjectContext?
        ) throws -> Any {
            asked.append(relationship.name)
            return relationship.isToMany ? [NSManagedObjectID]() : id("Group")
        }
    }

    @Test
    func `A store is asked for a to-one destination that its node leaves out, and for no other`() throws {
        NSPersistentStoreCoordinator.registerStoreClass(Pair.self, forStoreType: "Pair")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try #require(try coordinator.addPersistentStore(ofType: "Pair", configurationName: nil, at: nil) as? Pair)
        for nodeHasGroup in [false, true] {
            (store.nodeHasGroup, store.asked) = (nodeHasGroup, [])
            let context = context(on: coordinator), ann = try context.existingObject(with: store.id("Person"))
            #expect(ann.value(forKey: "name") as? String == "ann")
            #expect((ann.value(forKey: "group") as? NSManagedObject)?.objectID == store.id("Group"))
            #expect(store.asked == (nodeHasGroup ? [] : ["group"]))
        }
    }

    private func context(on coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func tags(_ context: NSManagedObjectContext, _ format: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.predicate = format.map { NSPredicate(format: $0) }
        return try context.fetch(request)
    }

    @Test
    func `A fault asks for its values once and only when it is used`() throws {
        let (store, context) = try open()
        let found = try tags(context)
        #expect(found.count == 3 && found.allSatisfy(\.isFault) && store.values.isEmpty)
        #expect(found[0].value(forKey: "label") as? String == "one" && found[0].value(forKey: "label") as? String == "one")
        #expect(store.values == [found[0].objectID])
        #expect(found[0].objectID.uriRepresentation().path == "/Tag/p1")
        store.boxes[1] = Shelf.Box(name: "uno", version: 2)
        _ = try tags(context)
        #expect(found[0].value(forKey: "label") as? String == "one", "until it is refreshed")
        context.refresh(found[0], mergeChanges: false)
        #expect(found[0].value(forKey: "label") as? String == "uno" && store.values.count == 2)
        let url = try #require(URL(string: "x-coredata://\(store.identifier ?? "")/Tag/p2"))
        let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
        #expect(id == found[1].objectID && store.referenceObject(for: id) as? Int == 2)
    }

    @Test
    func `The request states each kind of result`() throws {
        let (store, context) = try open()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 3)
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Tag")
        ids.resultType = .managedObjectIDResultType
        #expect(try context.fetch(ids).count == 3)
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Tag")
        dictionaries.resultType = .dictionaryResultType
        dictionaries.propertiesToFetch = ["label"]
        #expect(try context.fetch(dictionaries).map { $0["label"] as? String } == ["one", "two", "three"])
        #expect(store.requests == [.countResultType, .managedObjectIDResultType, .dictionaryResultType] && store.values.isEmpty)
        #expect(failure { _ = try context.explain(NSFetchRequest<NSManagedObject>(entityName: "Tag")) }?.code == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(failure { _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag"))) }?.code == NSPersistentStoreUnsupportedRequestTypeError)
    }

    @Test
    func `Requests that a store does not support are answered with objects`() throws {
        let (store, context) = try open()
        store.answersAll = false
        #expect(try tags(context, "label BEGINSWITH 't'").map { $0.value(forKey: "label") as? String } == ["two", "three"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        request.predicate = NSPredicate(format: "label != 'one'")
        (request.fetchOffset, request.fetchLimit) = (1, 1)
        #expect(try context.fetch(request).map { $0.value(forKey: "label") as? String } == ["two"])
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 3)
        let longest = NSFetchRequest<NSDictionary>(entityName: "Tag")
        longest.resultType = .dictionaryResultType
        let expression = NSExpressionDescription()
        expression.name = "n"
        expression.expression = NSExpression(format: "max:(label)")
        longest.propertiesToFetch = [expression]
        #expect(try context.fetch(longest).first?["n"] as? String == "two")
        // A change that must not count is ignored.
        let one = try #require(try tags(context, "label = 'one'").first)
        one.setValue("changed", forKey: "label")
        let stored = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        stored.predicate = NSPredicate(format: "label = 'one'")
        stored.includesPendingChanges = false
        #expect(try context.fetch(stored) == [one] && tags(context, "label = 'one'").isEmpty && tags(context, "label = 'changed'") == [one])
    }

    @Test
    func `A save is one request`() throws {
        let (store, context) = try open()
        let found = try tags(context)
        found[0].setValue("uno", forKey: "label")
        context.delete(found[1])
        context.detectConflicts(for: found[2])
        let new = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        new.setValue("four", forKey: "label")
        try context.save()
        #expect(store.saves.count == 1)
        #expect(store.saves[0].insertedObjects == [new] && store.saves[0].updatedObjects == [found[0]])
        #expect(store.saves[0].deletedObjects == [found[1]] && store.saves[0].lockedObjects == [found[2]])
        #expect(!new.objectID.isTemporaryID && store.referenceObject(for: new.objectID) as? Int == 4)
        #expect(store.boxes.mapValues(\.name) == [1: "uno", 3: "three", 4: "four"])
        // The saved version is known: a change elsewhere is a conflict.
        store.boxes[1] = Shelf.Box(name: "elsewhere", version: 9)
        found[0].setValue("mine", forKey: "label")
        #expect(failure { try context.save() }?.code == NSManagedObjectMergeError)
        #expect(store.saves.count == 1 && context.hasChanges)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(store.boxes[1]?.name == "mine")
        // And a conflict that the store finds itself.
        store.conflictsOnce = true
        found[0].setValue("again", forKey: "label")
        try context.save()
        #expect(store.boxes[1]?.name == "again" && !store.conflictsOnce)
    }

    @Test
    func `Saved values are not asked for`() throws {
        let (store, context) = try open()
        let one = try #require(try tags(context, "label = 'one'").first)
        #expect(one.value(forKey: "label") as? String == "one")
        one.setValue("uno", forKey: "label")
        let new = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        new.setValue("four", forKey: "label")
        store.values = []
        try context.save()
        #expect(store.values == [one.objectID], "for its version, before it is saved")
        #expect(one.value(forKey: "label") as? String == "uno" && new.value(forKey: "label") as? String == "four")
        #expect(!one.isFault && !new.isFault && store.values.count == 1)
        context.refresh(new, mergeChanges: false)
        #expect(new.value(forKey: "label") as? String == "four" && store.values.last == new.objectID)
    }

    @Test
    func `A store is notified of new objects once they are saved`() throws {
        let (store, context) = try open()
        let new = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context) }
        let gone = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        try context.obtainPermanentIDs(for: new + [gone])
        #expect(!new[0].objectID.isTemporaryID && store.registered.isEmpty)
        context.delete(gone)
        try context.save()
        #expect(Set(store.registered.keys) == Set(new.map(\.objectID)) && store.registered.values.allSatisfy { $0 == 1 })
        #expect(store.registrations == 1)
        new[0].setValue("changed", forKey: "label")
        try context.save()
        #expect(store.registered.values.allSatisfy { $0 == 1 } && store.registrations == 1)
    }

    /// The store has reported no version for an object that was saved.
    @Test(arguments: [false, true])
    func `The save after a save compares with the saved values`(isElsewhere: Bool) throws {
        let (store, context) = try open()
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        tag.setValue("four", forKey: "label")
        try context.save()
        let other = self.context(on: context.persistentStoreCoordinator)
        if isElsewhere {
            // A server's change, which is not reported.
            store.boxes[4] = Shelf.Box(name: "theirs", version: 7)
        } else {
            let theirs = try other.existingObject(with: tag.objectID)
            theirs.setValue("theirs", forKey: "label")
            try other.save()
        }
        tag.setValue("mine", forKey: "label")
        #expect(failure { try context.save() }?.code == NSManagedObjectMergeError)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(store.boxes[4]?.name == "mine")
        // If the store's values are those that were saved, there is no conflict, whatever the version.
        store.boxes[4]?.version += 10
        context.mergePolicy = NSMergePolicy.error
        tag.setValue("again", forKey: "label")
        try context.save()
        context.delete(tag)
        try context.save()
        #expect(store.boxes[4] == nil)
    }

    /// A service that completes the saved values, as most do.
    @Test
    func `Changes that a store makes to other properties are taken over`() throws {
        final class Service: NSIncrementalStore, @unchecked Sendable {
            var people: [Int: [String: Any]] = [:]
            var version: UInt64 = 0

            override var type: String { "Service" }

            override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
                for object in (
                    (request as? NSSaveChangesRequest)?.insertedObjects ?? []).union((request as? NSSaveChangesRequest)?.updatedObjects ?? [])
                {
                    version += 1
                    people[referenceObject(for: object.objectID) as? Int ?? 0] = [
                        "name": object.value(forKey: "name") as? String ?? "", "age": 70 + Int(version), "partner": NSNull(), "group": NSNull(),
                    ]
                }
                return []
            }

            override func newValuesForObject(
                with objectID: NSManagedObjectID, with context: NSManagedObjectContext
            ) throws -> NSIncrementalStoreNode {
                NSIncrementalStoreNode(objectID: objectID, withValues: people[referenceObject(for: objectID) as? Int ?? 0] ?? [:], version: version)
            }

            override func newValue(
                forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
                    with context: NSManagedObjectContext?
            ) throws -> Any { [] }

            override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
                array.enumerated().map { newObjectID(for: $1.entity, referenceObject: $0 + 1) }
            }
        }
        NSPersistentStoreCoordinator.registerStoreClass(Service.self, forStoreType: "Service")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let service = try #require(try coordinator.addPersistentStore(ofType: "Service", configurationName: nil, at: nil) as? Service)
        let context = context(on: coordinator)
        let ann = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        ann.setValue("Ann", forKey: "name")
        try context.save()
        #expect(ann.value(forKey: "age") as? Int == 1, "what was saved")
        ann.setValue("Anne", forKey: "name")
        try context.save()
        #expect(ann.value(forKey: "name") as? String == "Anne" && ann.value(forKey: "age") as? Int == 71)
        ann.setValue(3, forKey: "age")
        try context.save()
        // Another client's version.
        service.version += 5
        ann.setValue(5, forKey: "age")
        #expect(failure { try context.save() }?.code == NSManagedObjectMergeError, "both have changed it")
    }

    @Test
    func `A save that throws has no effect`() throws {
        let (store, context) = try open()
        let new = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        new.setValue("four", forKey: "label")
        store.failsSaving = true
        #expect(throws: Shelf.Refusal.self) { try context.save() }
        #expect(new.isInserted && context.hasChanges)
        store.failsSaving = false
        try context.save()
        #expect(!new.isInserted && store.boxes[4]?.name == "four")
    }

    @Test
    func `The next save reports a failed read`() throws {
        let (store, context) = try open()
        let found = try tags(context)
        store.failsReading = true
        #expect(found[0].value(forKey: "label") == nil)
        _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        let error = failure { try context.save() }
        #expect(error?.code == NSPersistentStoreSaveError && error?.userInfo[NSUnderlyingErrorKey] is Shelf.Refusal)
        store.failsReading = false
        context.rollback()
        #expect(found[0].value(forKey: "label") as? String == "one")
        store.boxes[2] = nil
        #expect(found[1].value(forKey: "label") == nil && found[1].isDeleted, "it has vanished")
    }

    @Test
    func `Registrations are balanced`() throws {
        let (store, context) = try open()
        try withExtendedLifetime(try tags(context)) { found in
            #expect(found.count == 3 && store.registered.count == 3 && store.registered.values.allSatisfy { $0 == 1 })
            do {
                let other = self.context(on: context.persistentStoreCoordinator)
                let theirs = try tags(other)
                #expect(store.registered.values.allSatisfy { $0 == 2 } && theirs.count == 3)
            }
            #expect(store.registered.values.allSatisfy { $0 == 1 }, "a context that is gone holds nothing")
        }
        let new = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        try context.save()
        #expect(store.registered[new.objectID] == 1)
        context.delete(new)
        try context.save()
        #expect(store.registered[new.objectID] == 0)
        context.refreshAllObjects()
        // An observer may exist.
        context.processPendingChanges()
        context.identities.sweep()
        #expect(store.registered.values.allSatisfy { $0 == 0 }, "\(store.registered)")
        _ = try tags(context)
        context.reset()
        #expect(store.registered.values.allSatisfy { $0 == 0 })
    }

    /// A store that reads an owner's members while it writes them must not get its own half-written list.
    @Test
    func `An order that was not read is saved as it was made`() throws {
        let stack = try TestStack(.incremental, model: GraphModel.make())
        let owners = (0..<16).map { stack.insert("Node", ["name": "\($0)"]) }
        let steps = (0..<64).map { stack.insert("Step", ["name": "\($0)"]) }
        try stack.context.save()
        stack.context.refreshAllObjects()
        for (index, step) in steps.enumerated().reversed() { step.setValue(owners[index % 16], forKey: "owner") }
        try stack.context.save()
        let expected = (0..<16).map { owner in [48, 32, 16, 0].map { "\(owner + $0)" } }
        #expect(owners.map { $0.names("steps") } == expected)
        let reader = stack.newContext()
        for node in try stack.fetch("Node", in: reader) {
            let number = try #require(Int(node.value(forKey: "name") as? String ?? ""))
            #expect(node.names("steps") == expected[number])
        }
    }

    @Test
    func `A value of another type is an error with the object's name`() throws {
        final class Liar: NSIncrementalStore, @unchecked Sendable {
            override var type: String { "Liar" }
            override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any { "no array" }
            override func newValuesForObject(
                with objectID: NSManagedObjectID, with context: NSManagedObjectContext
            ) throws -> NSIncrementalStoreNode {
                NSIncrementalStoreNode(objectID: objectID, withValues: ["label": 5], version: 1)
            }
        }
        NSPersistentStoreCoordinator.registerStoreClass(Liar.self, forStoreType: "Liar")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try #require(try coordinator.addPersistentStore(ofType: "Liar", configurationName: nil, at: nil) as? Liar)
        let context = context(on: coordinator)
        #expect(failure { _ = try tags(context) }?.localizedDescription.contains("String") == true)
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Tag"])
        let id = store.newObjectID(for: entity, referenceObject: "x")
        let error = failure { _ = try context.existingObject(with: id) }
        #expect(
            error?.localizedDescription.contains("for label of x-coredata://") == true && error?.localizedDescription.contains("no String") == true)
    }

    @Test
    func `A reference that is almost a number is a text`() throws {
        let stack = try TestStack(.incremental)
        let store = try #require(stack.persistentStore as? NSIncrementalStore)
        for name in ["007", "+7", "-0", "7", "-7"] {
            let url = try #require(URL(string: "x-coredata://\(store.identifier ?? "")/Tag/p\(name)"))
            let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: url))
            #expect(id.uriRepresentation() == url)
            let reference = store.referenceObject(for: id)
            #expect(reference is Int == ["7", "-7"].contains(name) && "\(reference)" == name)
        }
    }
}
