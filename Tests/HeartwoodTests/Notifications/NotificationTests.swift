import Foundation
import Testing

@testable import Heartwood

@Suite struct NotificationTests {
    @Test(arguments: StoreKind.allCases)
    func `A save is announced before and after, in order`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let heard = Heard(
            [
                NSManagedObjectContext.willSaveObjectsNotification, .NSManagedObjectContextObjectsDidChange,
                .NSManagedObjectContextDidSave, NSManagedObjectContext.didSaveObjectIDsNotification,
            ], of: stack.context)
        let a = stack.insert("Person", ["name": "a"]), b = stack.insert("Person", ["name": "b"])
        try stack.context.save()
        #expect(
            heard.names == [
                NSManagedObjectContext.didChangeObjectsNotification, .NSManagedObjectContextWillSave,
                NSManagedObjectContext.didSaveObjectsNotification, .NSManagedObjectContextDidSaveObjectIDs,
            ])
        let changed = heard.all[0], saved = heard.all[2], ids = heard.all[3]
        #expect(changed.objects(NSInsertedObjectsKey) == [a, b] && changed.userInfo?.count == 1)
        #expect(saved.objects(NSInsertedObjectsKey) == [a, b])
        #expect(saved.objects(NSUpdatedObjectsKey) == [] && saved.objects(NSDeletedObjectsKey) == [])
        #expect(ids.ids(NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue) == [a.objectID, b.objectID])
        #expect(ids.ids(NSInsertedObjectIDsKey)?.contains { $0.isTemporaryID } == false)
        a.setValue("c", forKey: "name")
        stack.context.delete(b)
        try stack.context.save()
        let second = heard.all[6]
        #expect(second.objects(NSUpdatedObjectsKey) == [a] && second.objects(NSDeletedObjectsKey) == [b])
        #expect(second.objects(NSInsertedObjectsKey) == [])
        stack.insert("Group", [:])
        #expect(throws: NSError.self) { try stack.context.save() }
        #expect(
            heard.names.suffix(2) == [.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave],
            "a save that fails is not told of")
    }

    @Test(arguments: StoreKind.allCases)
    func `A save without changes is reported with no objects`(kind: StoreKind) throws {
        let stack = try TestStack(kind), child = stack.context.child()
        for context in [stack.context, child] {
            let heard = Heard(
                [
                    .NSManagedObjectContextWillSave, .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave,
                    .NSManagedObjectContextDidSaveObjectIDs,
                ], of: context)
            try context.save()
            #expect(heard.names == [.NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs])
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] { #expect(heard.all[1].objects(key) == []) }
        }
        // Changes made by observers belong to the save.
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: stack.context, queue: nil) { notification in
            guard let context = notification.object as? NSManagedObjectContext, !context.hasChanges else { return }
            NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue("late", forKey: "name")
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try stack.context.save()
        #expect(try stack.fetch("Person", in: stack.anew()).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `Changes are announced once for each event`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let heard = Heard([.NSManagedObjectContextObjectsDidChange], of: stack.context)
        let a = stack.insert("Person", ["name": "a"]), b = stack.insert("Person", ["name": "b"])
        stack.context.delete(b)
        a.setValue("c", forKey: "name")
        #expect(heard.all.isEmpty)
        stack.context.processPendingChanges()
        let first = heard.take()
        #expect(first?.objects(NSInsertedObjectsKey) == [a] && first?.userInfo?.count == 1, "what came and went is nothing")
        stack.context.processPendingChanges()
        #expect(heard.all.isEmpty)
        a.setValue("d", forKey: "name")
        a.setValue("e", forKey: "name")
        stack.context.processPendingChanges()
        #expect(heard.take()?.objects(NSUpdatedObjectsKey) == [a])
        try stack.context.save()
        stack.context.refresh(a, mergeChanges: false)
        stack.context.processPendingChanges()
        #expect(heard.take()?.objects(NSRefreshedObjectsKey) == [a])
        stack.context.delete(a)
        stack.context.processPendingChanges()
        #expect(heard.take()?.objects(NSDeletedObjectsKey) == [a])
        let known = stack.context.registeredObjects.map(\.objectID)
        stack.context.reset()
        let forgotten = heard.take()?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]
        #expect(forgotten.map(Set.init) == Set(known) && !known.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `The end of perform is the end of an event`(kind: StoreKind) async throws {
        let stack = try TestStack(kind)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        let heard = Heard([.NSManagedObjectContextObjectsDidChange], of: context)
        context.performAndWait { _ = stack.insert("Person", [:], into: context) }
        #expect(heard.all.count == 1)
        await context.perform { _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context) }
        #expect(heard.all.count == 2)
        let person = context.performAndWait { stack.insert("Person", [:], into: context) }
        context.performAndWait { context.insert(person) }
        #expect(heard.all.count == 4 && heard.all.last?.objects(NSInsertedObjectsKey) == [person], "an insertion is told again when it is made again")
    }

    @Test
    func `Adding and removing a store is announced`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let heard = Heard([.NSPersistentStoreCoordinatorStoresDidChange], of: coordinator)
        let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect((heard.take()?.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore]) == [store])
        try coordinator.remove(store)
        #expect((heard.take()?.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore]) == [store])
    }

    @Test
    func `A change of stores is announced once it has happened`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let center = NotificationCenter.default
        nonisolated(unsafe) var told: [String] = []
        let names: [(Notification.Name, String)] = [
            (.NSPersistentStoreCoordinatorStoresWillChange, "will"), (.NSPersistentStoreCoordinatorWillRemoveStore, "leaves"),
            (.NSPersistentStoreCoordinatorStoresDidChange, "did"),
        ]
        let tokens = names.map { name, text in
            center.addObserver(forName: name, object: coordinator, queue: nil) { notification in
                let keys = notification.userInfo?.keys.compactMap { $0 as? String }.sorted().joined(separator: "+") ?? ""
                told.append("\(text) \(keys) \((notification.object as? NSPersistentStoreCoordinator)?.persistentStores.count ?? -1)")
            }
        }
        defer { for token in tokens { center.removeObserver(token) } }
        let scratch = try ScratchDirectory()
        let store = try coordinator.addPersistentStore(type: .recordLog, at: scratch["a.heartwood"])
        #expect(told == ["did added 1"])
        told = []
        #expect(throws: (any Error).self) { try coordinator.addPersistentStore(type: .recordLog, at: scratch["a.heartwood"]) }
        #expect(!coordinator.setURL(scratch["nowhere.heartwood"], for: store))
        #expect(told.isEmpty, "a move that fails does not happen; what was never opened is not told of")
        told = []
        try FileManager.default.copyItem(at: scratch["a.heartwood"], to: scratch["b.heartwood"])
        #expect(coordinator.setURL(scratch["b.heartwood"], for: store))
        #expect(told == ["did changed 1"])
        told = []
        try coordinator.remove(store)
        #expect(told == ["leaves  1", "did removed 0"])
        told = []
        #expect(throws: (any Error).self) { try coordinator.remove(store) }
        #expect(told.isEmpty)
    }

    /// Rows of record logs are copied as they are; any other migration goes through objects, which may get new IDs.
    @Test(arguments: StoreKind.allCases, [StoreKind.recordLog, .inMemory, .binary, .atomic])
    func `A migration announces the old and the new ID of each object`(kind: StoreKind, target: StoreKind) throws {
        let stack = try TestStack(kind), scratch = try ScratchDirectory(), old = stack.persistentStore
        var people = (0..<4).map { stack.insert("Person", ["name": "p\($0)"]) }
        try stack.context.save()
        // Deleted rows leave gaps.
        stack.context.delete(people.remove(at: 1))
        stack.insert("Group", ["title": "g"])
        try stack.context.save()
        let names = Dictionary(uniqueKeysWithValues: people.map { ($0.objectID, $0.value(forKey: "name") as? String) })
        let heard = Heard([.NSPersistentStoreCoordinatorStoresDidChange], of: stack.coordinator)
        let new = try stack.coordinator.migratePersistentStore(
            old, to: scratch["new"], options: [NSRecordLogDurabilityOption: "none"], withType: target.type)
        let list = try #require(heard.take()?.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any])
        #expect(list.count == 3 && list[0] as? NSPersistentStore === old && list[1] as? NSPersistentStore === new)
        let ids = try #require(list[2] as? [NSManagedObjectID])
        #expect(ids.count == 8 && (list[2] as? NSArray)?.count == 8)
        let reader = stack.newContext()
        for pair in stride(from: 0, to: ids.count, by: 2) {
            let (before, after) = (ids[pair], ids[pair + 1])
            #expect(after.persistentStore === new && before.entity === after.entity && before != after)
            let object = try reader.existingObject(with: after)
            guard before.entity.name == "Person" else { continue }
            #expect(names[before] == object.value(forKey: "name") as? String)
        }
        #expect(Set(stride(from: 0, to: ids.count, by: 2).map { ids[$0] }).isSuperset(of: names.keys))
        try stack.coordinator.remove(new)
    }

    @Test
    func `The IDs of a migration notification are those of its time`() throws {
        let stack = try TestStack(.recordLog), scratch = try ScratchDirectory()
        stack.insert("Person", ["name": "a"])
        try stack.context.save()
        let heard = Heard([.NSPersistentStoreCoordinatorStoresDidChange], of: stack.coordinator)
        try stack.coordinator.migratePersistentStore(stack.persistentStore, to: scratch["new"], withType: NSRecordLogStoreType)
        let list = try #require((heard.take()?.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any])?.last as? NSArray)
        let later = stack.newContext()
        stack.insert("Person", ["name": "b"], into: later)
        try later.save()
        #expect(list.count == 2, "what was saved before anybody asked is not among them")
    }

    @Test(arguments: StoreKind.allCases)
    func `Changes for a store can be saved as it is removed`(kind: StoreKind) throws {
        let stack = try TestStack(kind), store = stack.persistentStore
        stack.insert("Person", ["name": "Ada"])
        let context = stack.context
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: stack.coordinator, queue: nil
        ) { _ in try? context.save() }
        defer { NotificationCenter.default.removeObserver(token) }
        try stack.coordinator.remove(store)
        #expect(!context.hasChanges && stack.coordinator.persistentStores.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `A single object can be observed`(kind: StoreKind) async throws {
        let stack = try TestStack(kind)
        let ada = stack.insert("Person", ["name": "Ada"]), tag = stack.insert("Tag", ["label": "x"])
        var before: [String?] = []
        let observation = ada.objectWillChange.sink { before.append(ada.value(forKey: "name") as? String) }
        ada.setValue("Grace", forKey: "name")
        #expect(before == ["Ada"], "told before the change")
        try stack.context.save()
        ada.setValue("Edsger", forKey: "name")
        tag.mutableSetValue(forKey: "people").add(ada)
        tag.setValue("y", forKey: "label")
        #expect(before == ["Ada", "Grace", "Edsger"], "also after a save, and of members")
        stack.context.rollback()
        #expect(before.count == 4 && ada.value(forKey: "name") as? String == "Grace")
        observation.cancel()
        ada.setValue("x", forKey: "name")
        #expect(before.count == 4)
        var set: Set<ObjectObservation> = []
        ada.objectWillChange.sink { before = [] }.store(in: &set)
        stack.context.delete(ada)
        #expect(before.isEmpty)
        let values = tag.objectWillChange.values
        tag.setValue("z", forKey: "label")
        var iterator = values.makeAsyncIterator()
        #expect(await iterator.next() != nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `An observer that reads an object during a merge reads its new value`(kind: StoreKind) throws {
        for (isChild, isChanged) in [(false, false), (false, true), (true, false), (true, true)] {
            let stack = try TestStack(kind), ada = stack.insert("Person", ["name": "Ada"])
            try stack.context.save()
            let context = isChild ? stack.context.child() : stack.anew(), mine = context.own(ada)
            context.automaticallyMergesChangesFromParent = true
            #expect(mine.text("name") == "Ada")
            if isChanged { mine.setValue(5, forKey: "age") }
            var read: [String?] = []
            let observation = mine.objectWillChange.sink { read.append(mine.text("name")) }
            ada.setValue("Grace", forKey: "name")
            try stack.context.save()
            #expect(!read.isEmpty && read.allSatisfy { $0 == "Grace" }, "\(isChild) \(isChanged) \(read)")
            read = []
            ada.setValue("Edsger", forKey: "name")
            try stack.context.save()
            #expect(!read.isEmpty && read.allSatisfy { $0 == "Edsger" }, "again")
            #expect(mine.hasChanges == isChanged)
            observation.cancel()
        }
    }
}
