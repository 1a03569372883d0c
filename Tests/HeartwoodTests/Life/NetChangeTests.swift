import Foundation
import Testing

@testable import Heartwood

/// The definition of a change, and the state of an object after a refresh or a reset of its context.
@Suite struct NetChangeTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func `Members that were taken out and put back are no change, read or not`(kind: StoreKind, isRead: Bool) throws {
        let stack = try TestStack(kind, model: GraphModel.make())
        let node = stack.node("n"), items = stack.make("Item", ["a", "b"]), steps = stack.make("Step", ["s", "t"]), friend = stack.node("f")
        node.setValue(NSOrderedSet(array: items), forKey: "items")
        node.setValue(NSOrderedSet(array: steps), forKey: "steps")
        node.setValue(Set([friend]), forKey: "friends")
        try stack.context.save()
        let context = stack.anew(), own = context.object(with: node.objectID)
        func mine(_ object: NSManagedObject) -> NSManagedObject { context.object(with: object.objectID) }
        if isRead { for key in ["items", "steps", "friends"] { _ = own.names(key) } }
        #expect(own.changedValues().isEmpty && !own.hasPersistentChangedValues)
        let friends = own.mutableSetValue(forKey: "friends")
        friends.remove(mine(friend))
        #expect(own.changedValues().keys.sorted() == ["friends"] && own.hasPersistentChangedValues)
        friends.add(mine(friend))
        #expect(own.changedValues().isEmpty && !own.hasPersistentChangedValues)
        // The last member returns to its position, the first one does not.
        let ordered = own.mutableOrderedSetValue(forKey: "items")
        ordered.remove(mine(items[1]))
        ordered.add(mine(items[1]))
        #expect(own.changedValues().isEmpty)
        ordered.remove(mine(items[0]))
        ordered.add(mine(items[0]))
        #expect(own.changedValues().keys.sorted() == ["items"])
        own.setValue("x", forKey: "name")
        #expect(own.changedValues().keys.sorted() == ["items", "name"])
        own.setValue("n", forKey: "name")
        #expect(own.changedValues().keys.sorted() == ["items"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A value that a primitive setter sets is no change`(kind: StoreKind) throws {
        let stack = try TestStack(kind), person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        person.setPrimitiveValue("x", forKey: "name")
        #expect(person.changedValues().isEmpty && !person.hasChanges && !person.hasPersistentChangedValues)
        #expect(person.value(forKey: "name") as? String == "x")
        stack.context.refresh(person, mergeChanges: false)
        #expect(person.value(forKey: "name") as? String == "a")
    }

    @Test(arguments: [StoreKind.recordLog, .inMemory, .binary, .atomic])
    func `A fetch of IDs registers nothing`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let people = ["a", "b", "c"].map { stack.insert("Person", ["name": $0]) }
        try stack.context.save()
        let reader = stack.anew(), request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate(format: "name != 'b'")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        #expect(try reader.fetch(request) == [people[2].objectID, people[0].objectID] && reader.identities.count == 0)
        request.fetchLimit = 1
        request.fetchOffset = 1
        #expect(try reader.fetch(request) == [people[0].objectID] && reader.identities.count == 0)
    }

    @Test
    func `Objects of a context that was reset are faults`() throws {
        let stack = try TestStack(.inMemory), person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        #expect(!person.isFault || person.value(forKey: "name") as? String == "a")
        stack.context.reset()
        #expect(person.isFault && person.managedObjectContext == nil && person.value(forKey: "name") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `Metadata that were set are written by a save without changes`(kind: StoreKind) throws {
        let stack = try TestStack(kind), store = stack.persistentStore
        stack.insert("Person", ["name": "a"])
        try stack.context.save()
        store.metadata["key"] = "Test"
        try stack.context.save()
        #expect(store.metadata["key"] as? String == "Test")
        guard kind == .recordLog || kind == .binary else { return }
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: stack.url, options: nil)["key"] as? String == "Test")
    }
}
