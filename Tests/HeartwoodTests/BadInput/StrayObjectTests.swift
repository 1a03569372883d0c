import Foundation
import RecordLog
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Objects without a context, without a store, or deleted: no crash, no access to freed memory, and no silent loss.
@Suite struct StrayObjectTests {
    @Test(arguments: StoreKind.allCases)
    func `An ID of another coordinator names nothing, or the same row of the same file`(kind: StoreKind) throws {
        let one = try TestStack(kind), two = try TestStack(kind)
        let mine = one.insert("Person", ["name": "mine"]), theirs = two.insert("Person", ["name": "theirs"])
        try one.context.save()
        try two.context.save()
        #expect(one.context.registeredObject(for: theirs.objectID) == nil)
        #expect(throws: NSError.self) { try one.context.existingObject(with: theirs.objectID) }
        if StoreKind.batching.contains(kind) {
            #expect(throws: NSError.self) { try one.context.execute(NSBatchDeleteRequest(objectIDs: [theirs.objectID])) }
        }
        #expect(try one.fetch("Person") == [mine] && mine.value(forKey: "name") as? String == "mine")
        guard kind == .recordLog else { return }
        // Its tables have other indexes in this coordinator.
        let both = try TestStack(.inMemory)
        try both.coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: one.url, options: nil)
        let same = both.context.object(with: mine.objectID)
        #expect(same.value(forKey: "name") as? String == "mine" && same.objectID == mine.objectID)
        #expect(same.objectID.uriRepresentation() == mine.objectID.uriRepresentation())
        #expect(both.context.registeredObject(for: mine.objectID) === same)
        #expect(try both.context.existingObject(with: mine.objectID) === same)
        let outcome = try both.context.execute(NSBatchDeleteRequest(objectIDs: [mine.objectID]))
        #expect((outcome as? NSBatchDeleteResult)?.result as? Bool == true)
        #expect(try one.fetch("Person", in: one.anew()).isEmpty)
    }

    private func failure(_ body: () throws -> Void) -> NSError? {
        #expect(throws: NSError.self) { try body() }
    }

    @Test
    func `A save without a store throws an error that says so`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue("Ada", forKey: "name")
        let error = failure { try context.save() }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreSaveError)
        #expect(error?.localizedDescription.contains("no persistent store of the coordinator holds the entity Person") == true)
        #expect(error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [person])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        #expect(failure { _ = try context.fetch(request) }?.code == NSPersistentStoreOperationError)
        #expect(context.hasChanges && person.value(forKey: "name") as? String == "Ada")
        // A store that is added later takes it.
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try context.save()
        #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) == [person])
    }

    /// A context caches the last entity that it looked up by name.
    @Test
    func `A context finds another coordinator's entity of the same name`() throws {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        for _ in 0..<3 {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            context.persistentStoreCoordinator = coordinator
            let entity = coordinator.managedObjectModel.entitiesByName["Person"]
            for _ in 0..<2 {
                #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).isEmpty)
                #expect(try context.entity(named: "Person") === entity)
            }
            #expect(NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).entity === entity)
            context.reset()
        }
    }

    /// The runtime of an entity once had an unretained reference to its store: reading such an object ended the process.
    @Test(arguments: StoreKind.allCases)
    func `A removed store is an error at the next save`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"])
        let person = stack.insert("Person", ["name": "Ada", "group": group])
        try stack.context.save()
        let context = stack.newContext()
        let known = context.object(with: person.objectID), fault = context.object(with: group.objectID)
        #expect(known.value(forKey: "name") as? String == "Ada")
        try stack.coordinator.remove(stack.coordinator.persistentStores[0])
        #expect(known.value(forKey: "name") as? String == "Ada" && known.objectID.isTemporaryID == false, "what was read stays")
        #expect(known.value(forKey: "group") as? NSManagedObject === fault)
        #expect(fault.value(forKey: "title") == nil && fault.countOfManagedObjects(at: fault.propertyIndex("people")) == 0)
        #expect((fault.value(forKey: "people") as? NSSet)?.count == 0 && !fault.isDeleted)
        known.setValue("Grace", forKey: "name")
        let error = failure { try context.save() }
        #expect(error?.code == NSPersistentStoreSaveError)
        #expect(error?.localizedDescription.contains("was removed from its coordinator") == true)
        context.rollback()
        known.setValue("Grace", forKey: "name")
        #expect(failure { try context.save() }?.localizedDescription.contains("removed from its coordinator") == true)
        #expect(failure { _ = try stack.fetch("Person", in: context) }?.code == NSPersistentStoreOperationError)
        #expect(failure { _ = try context.existingObject(with: group.objectID) } != nil)
        // Another store replaces it.
        try stack.coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: stack.url, options: [NSRecordLogDurabilityOption: "none"])
        #expect(failure { try context.save() } != nil, "the object is still the old store's")
        context.reset()
        #expect(try stack.fetch("Person", in: context).count == (kind.isFile ? 1 : 0))
        stack.insert("Person", ["name": "new"], into: context)
        try context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `Objects from before a reset are empty`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"])
        let read = stack.insert("Person", ["name": "read", "group": group]), saved = stack.insert("Person", ["name": "saved"])
        try stack.context.save()
        #expect(read.value(forKey: "name") as? String == "read")
        let fault = stack.insert("Person", ["name": "fault"]), inserted = stack.insert("Person", ["name": "inserted"])
        try stack.context.save()
        stack.context.refresh(fault, mergeChanges: false)
        saved.setValue("changed", forKey: "name")
        let deleted = stack.insert("Person", ["name": "deleted"])
        try stack.context.save()
        stack.context.delete(deleted)
        let set = group.mutableSetValue(forKey: "people")
        stack.context.reset()
        #expect(!stack.context.hasChanges && stack.context.registeredObjects.isEmpty)
        for person in [read, saved, fault, inserted, deleted] {
            #expect(person.managedObjectContext == nil && person.value(forKey: "name") == nil && person.managedInteger(at: 1) == nil)
            #expect(person.value(forKey: "group") == nil && (person.value(forKey: "tags") as? NSSet)?.count == 0)
            #expect(!person.hasChanges && !person.isDeleted && !person.isInserted && person.changedValues().isEmpty)
            person.setValue("set", forKey: "name")
            person.setValue(nil, forKey: "group")
            #expect(!stack.context.hasChanges)
        }
        #expect(set.count == 0 && set.allObjects.isEmpty && !set.contains(read) && group.firstManagedObject(at: 1) == nil)
        stack.context.refresh(read, mergeChanges: true)
        stack.context.detectConflicts(for: read)
        try stack.context.save()
        #expect(try stack.fetch("Person").count == 5)
        // An object that is inserted again is a new object with its entity's defaults.
        stack.context.insert(fault)
        #expect(fault.isInserted && fault.objectID.isTemporaryID)
        try stack.context.save()
        #expect(!fault.objectID.isTemporaryID)
        #expect(try stack.fetch("Person").count == 6)
    }

    @Test(arguments: StoreKind.allCases)
    func `Deleting an object twice deletes it once`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ada"])
        let never = stack.insert("Person", ["name": "never saved"])
        stack.context.delete(never)
        stack.context.delete(never)
        try stack.context.save()
        stack.context.delete(person)
        stack.context.delete(person)
        #expect(stack.context.deletedObjects == [person])
        try stack.context.save()
        stack.context.delete(person)
        #expect(!stack.context.hasChanges)
        try stack.context.save()
        #expect(try stack.fetch("Person").isEmpty)
        // Two contexts: the second one's deletion has nothing left to do, or is a conflict.
        let other = stack.insert("Person", ["name": "Grace"])
        try stack.context.save()
        let context = stack.newContext()
        let same = context.object(with: other.objectID)
        _ = same.value(forKey: "name")
        stack.context.delete(other)
        try stack.context.save()
        context.delete(same)
        #expect(failure { try context.save() }?.code == NSManagedObjectMergeError)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(try stack.fetch("Person", in: context).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `A deleted object that is inserted again is a new object`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ada", "group": stack.insert("Group", ["title": "g"])])
        try stack.context.save()
        let old = person.objectID
        _ = person.value(forKey: "name")
        stack.context.delete(person)
        try stack.context.save()
        #expect(person.value(forKey: "name") as? String == "Ada")
        stack.context.insert(person)
        #expect(person.value(forKey: "name") as? String == "Ada" && person.value(forKey: "group") == nil)
        try stack.context.save()
        #expect(person.objectID != old && !person.objectID.isTemporaryID)
        #expect(try stack.fetch("Person", "name == 'Ada'", in: stack.anew()).map(\.objectID) == [person.objectID])
    }

    @Test(arguments: [true, false])
    func `An object that outlives its context has a copy of its row, and keeps no file`(isMapped: Bool) throws {
        let stack = try TestStack(.recordLog, options: [NSRecordLogMemoryMappingOption: isMapped])
        let text = String(repeating: "long ", count: 400)
        for number in 0..<20 { stack.insert("Person", ["name": text + "\(number)"]) }
        try stack.context.save()
        stack.context.reset()
        weak var file: AnyObject?
        var deleted: NSManagedObject?, orphan: NSManagedObject?
        do {
            let context = stack.newContext()
            file = try context.view(of: stack.store).file
            let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "name", ascending: true)], in: context)
            for person in people { _ = person.value(forKey: "age") }
            deleted = people[0]
            orphan = people[1]
            context.delete(people[0])
            try context.save()
            context.reset()
            #expect(people[1].value(forKey: "name") == nil)
            orphan = try stack.fetch("Person", "name ENDSWITH ' 7'", in: context).first
            #expect(orphan?.value(forKey: "age") as? Int == 1)
        }
        // The context is gone, the file is replaced, and the store closed.
        try stack.store.compactRecordLog()
        try stack.coordinator.remove(stack.store)
        #expect(file == nil)
        #expect(deleted?.value(forKey: "name") as? String == text + "0")
        #expect(orphan?.managedObjectContext == nil && orphan?.value(forKey: "name") as? String == text + "7")
        deleted = nil
        #expect(orphan?.value(forKey: "name") as? String == text + "7")
    }

    @Test(arguments: StoreKind.allCases)
    func `Setting the same coordinator again changes nothing`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        #expect(person.value(forKey: "age") as? Int == 1)
        stack.context.persistentStoreCoordinator = stack.coordinator
        #expect(stack.context.readState.memory.files.isEmpty == !StoreKind.planning.contains(kind) && person.value(forKey: "name") as? String == "Ada")
    }
}
