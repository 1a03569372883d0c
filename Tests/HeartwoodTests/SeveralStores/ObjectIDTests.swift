import Foundation
import Testing

@testable import Heartwood

/// IDs of stores that are also in other coordinators, or that are added and removed.
@Suite struct ObjectIDTests {
    private func tag(_ stack: TestStack) throws -> NSManagedObjectID {
        let tag = stack.insert("Tag", ["label": "x"])
        try stack.context.save()
        return tag.objectID
    }

    @Test(arguments: [StoreKind.recordLog, .binary, .atomic])
    func `IDs of one object in two coordinators are equal`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let id = try tag(stack)
        let other = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        try other.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
        let store = try other.addPersistentStore(ofType: kind.type, configurationName: nil, at: stack.url)
        defer { try? other.remove(store) }
        let same = try #require(other.managedObjectID(forURIRepresentation: id.uriRepresentation()))
        #expect(same == id && same.hash == id.hash)
        let context = other.newContext()
        #expect(context.object(with: id).value(forKey: "label") as? String == "x")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.predicate = NSPredicate(format: "self == %@", id)
        #expect(try context.fetch(request).count == 1)
    }

    /// It named nothing, and `object(with:)` gave an object of the removed store.
    @Test(arguments: [StoreKind.recordLog, .binary, .atomic])
    func `An ID names its object once the store is added again`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let id = try tag(stack), uri = id.uriRepresentation()
        try stack.coordinator.remove(stack.persistentStore)
        stack.context.reset()
        #expect(id.uriRepresentation() == uri)
        try stack.coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: stack.url)
        let found = try #require(try stack.fetch("Tag").first)
        #expect(found.objectID == id && found.objectID.uriRepresentation() == uri)
        #expect(try stack.context.existingObject(with: id) === found && stack.context.registeredObject(for: id) === found)
        #expect(try stack.fetch("Tag", "self == %@", [id]) == [found] && stack.fetch("Tag", "self IN %@", [[id]]) == [found])
    }

    @Test
    func `A URI that only looks like an object's is not one`() throws {
        let stack = try TestStack(.inMemory)
        _ = try tag(stack)
        let host = try #require(stack.persistentStore.identifier)
        for end in ["p", "p-1", "p0", "p+1", "p01", "q1", "p99999999999999999999", "p1/p1"] {
            let url = try #require(URL(string: "x-coredata://\(host)/Tag/\(end)"))
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: url) == nil, "\(end)")
        }
    }

    /// A coordinator has room for a few hundred stores; it once reused the slots of removed ones, whose objects a context still had.
    @Test
    func `Hundreds of stores are added and removed beside one context`() throws {
        let stack = try TestStack(.inMemory), context = stack.context
        let first = stack.insert("Tag", ["label": "first"])
        try context.save()
        for number in 0..<300 {
            let store = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            let group = stack.insert("Group", ["title": "g\(number)"]), person = stack.insert("Person", ["name": "p\(number)"])
            context.assign(group, to: store)
            context.assign(person, to: store)
            person.setValue(group, forKey: "group")
            try context.save()
            #expect(try stack.fetch("Person", "name == %@", ["p\(number)"]) == [person])
            context.refresh(person, mergeChanges: false)
            context.refresh(group, mergeChanges: false)
            #expect(person.value(forKeyPath: "group.title") as? String == "g\(number)" && group.many("people").count == 1)
            try stack.coordinator.remove(store)
        }
        #expect(first.value(forKey: "label") as? String == "first")
    }

    /// Held objects of a removed store keep its slots from being reused.
    @Test
    func `A held object of a removed store never becomes another's object`() throws {
        let stack = try TestStack(.inMemory), context = stack.context
        let old = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let held = stack.insert("Tag", ["label": "held"])
        context.assign(held, to: old)
        try context.save()
        try stack.coordinator.remove(old)
        for number in 0..<300 {
            let store = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            let tag = stack.insert("Tag", ["label": "\(number)"])
            context.assign(tag, to: store)
            try context.save()
            let found = try stack.fetch("Tag", "label == %@", ["\(number)"])
            #expect(found == [tag] && tag !== held && tag.objectID != held.objectID)
            try stack.coordinator.remove(store)
        }
    }

    @Test(arguments: [StoreKind.atomic, .incremental])
    func `Any text may be a store's identifier`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        _ = try tag(stack)
        for name in ["my store", "under_score", "a/b", "ü", "a%20b", "A:B", "UPPER", "x@y", "[::1]", "a#b?c"] {
            stack.persistentStore.identifier = name
            stack.context.reset()
            let id = try #require(try stack.fetch("Tag").first).objectID
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id, "\(name)")
        }
    }
}
