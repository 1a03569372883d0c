import Foundation
import Testing

@testable import Heartwood

/// Undo of values, insertions and deletions before any save; grouping, naming, disabling.
@Suite struct ContextUndoTests {
    @Test(arguments: StoreKind.allCases)
    func `Without an undo manager nothing is kept`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        #expect(stack.context.undoManager == nil)
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        person.setValue("b", forKey: "name")
        stack.context.undo()
        stack.context.redo()
        #expect(person.value(forKey: "name") as? String == "b")
        #expect(!person.state.contains(.recorded) && stack.context.making.objectFlags.isEmpty)
        let manager = UndoManager()
        stack.context.undoManager = manager
        #expect(person.state.contains(.recorded))
        person.setValue("c", forKey: "name")
        stack.context.undo()
        #expect(person.value(forKey: "name") as? String == "b")
        stack.context.undoManager = nil
        #expect(!person.state.contains(.recorded) && !manager.canUndo && !manager.canRedo)
    }

    @Test(arguments: StoreKind.allCases)
    func `Undo restores attributes`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let values: [String: Any] = [
            "int64": 1, "double": 1.5, "string": "old", "bool": true, "date": Date(timeIntervalSinceReferenceDate: 1),
            "data": Data([1]), "uuid": UUID(), "uri": URL(string: "https://old.example")!, "decimal": NSDecimalNumber(string: "1.25"),
            "transformable": ["old"] as NSArray,
        ]
        let object = stack.insert("Everything", values)
        try stack.saveAndForget()
        stack.manager.removeAllActions()
        stack.group { for key in values.keys { object.setValue(nil, forKey: key) } }
        stack.group { for key in values.keys { object.setValue(values[key], forKey: key) } }
        #expect(stack.manager.undoCount == 2)
        stack.context.undo()
        for key in values.keys { #expect(object.value(forKey: key) == nil) }
        stack.context.undo()
        for key in values.keys { #expect(object.value(forKey: key) as? NSObject == values[key] as? NSObject, "\(key)") }
        #expect(object.value(forKey: "string") as? String == "old")
        #expect(object.isUpdated && !object.hasPersistentChangedValues, "it is listed, but nothing differs")
        stack.context.redo()
        for key in values.keys { #expect(object.value(forKey: key) == nil) }
        stack.context.redo()
        #expect(object.value(forKey: "string") as? String == "old" && object.value(forKey: "int64") as? Int == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `An event keeps one step for a property`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let person = stack.insert("Person", ["name": "a"])
        stack.context.processPendingChanges()
        for number in 0..<100 { person.setValue("\(number)", forKey: "name") }
        #expect(stack.context.recorder?.journal.steps.count == 1)
        stack.context.processPendingChanges()
        #expect(stack.manager.undoCount == 2, "without groups by event each event is one")
        stack.context.undo()
        #expect(person.value(forKey: "name") as? String == "a")
    }

    @Test(arguments: StoreKind.allCases)
    func `An insertion can be undone and redone`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.group { stack.insert("Group", ["title": "g"]) }
        let person = stack.group { stack.insert("Person", ["name": "a", "group": group]) }
        stack.context.undo()
        #expect(person.managedObjectContext == nil && !stack.context.registeredObjects.contains(person))
        #expect(group.members("people") == [] && stack.context.insertedObjects == [group])
        stack.context.undo()
        #expect(!stack.context.hasChanges && stack.context.insertedObjects.isEmpty)
        try stack.context.save()
        stack.context.redo()
        stack.context.redo()
        #expect(stack.context.insertedObjects == [person, group] && person.isInserted && !person.isDeleted)
        #expect(person.value(forKey: "name") as? String == "a" && group.members("people") == [person])
        try stack.context.save()
        #expect(try stack.stored().count == 2 && stack.stored().values.contains { $0["people"]?.isEmpty == false })
    }

    @Test(arguments: StoreKind.allCases)
    func `A deletion can be undone`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.insert("Group", ["title": "g"])
        let person = stack.insert("Person", ["name": "a", "group": group])
        try stack.saveAndForget()
        stack.manager.removeAllActions()
        let before = try stack.stored()
        stack.group { stack.context.delete(person) }
        #expect(group.members("people") == [])
        stack.context.undo()
        #expect(!person.isDeleted && stack.context.deletedObjects.isEmpty && group.members("people") == [person])
        #expect(person.value(forKey: "group") as? NSManagedObject === group)
        stack.context.redo()
        #expect(person.isDeleted && group.members("people") == [])
        stack.context.undo()
        try stack.context.save()
        #expect(try stack.stored() == before)
    }

    @Test(arguments: StoreKind.allCases)
    func `An inserted object that was deleted comes back with all its values`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "t"])
        let person = stack.insert("Person", ["name": "a", "group": group, "tags": NSSet(object: tag)])
        stack.context.processPendingChanges()
        stack.group { stack.context.delete(person) }
        // The others get other keys now; the object outside of the context still has their old ones.
        try stack.context.save()
        stack.context.undo()
        #expect(person.isInserted && person.objectID.isTemporaryID)
        #expect(person.value(forKey: "group") as? NSManagedObject === group && person.members("tags") == [tag])
        #expect(tag.members("people") == [person] && group.members("people") == [person])
        try stack.context.save()
        #expect(try stack.stored()[tag.objectID.uriRepresentation().absoluteString]?["people"]?.isEmpty == false)
    }

    @Test(arguments: StoreKind.allCases)
    func `An event's group can be named before its registration`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        stack.context.undoManager = UndoManager()
        let person = stack.insert("Person", ["name": "a"])
        stack.manager.setActionName("Insert")
        stack.manager.endUndoGrouping()
        person.setValue("b", forKey: "name")
        stack.manager.setActionName("Rename")
        #expect(stack.manager.undoMenuItemTitle == "Undo Rename")
        stack.context.undo()
        #expect(person.value(forKey: "name") as? String == "a")
        #expect(stack.manager.redoActionName == "Rename" && stack.manager.undoActionName == "Insert")
    }

    @Test(arguments: StoreKind.allCases)
    func `Nested groups of changes are undone one by one`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let person = stack.insert("Person", ["name": "a"])
        stack.context.processPendingChanges()
        stack.manager.beginUndoGrouping()
        person.setValue("b", forKey: "name")
        stack.group { person.setValue("c", forKey: "name") }
        stack.manager.undoNestedGroup()
        #expect(person.value(forKey: "name") as? String == "b")
        stack.manager.endUndoGrouping()
        stack.context.undo()
        #expect(person.value(forKey: "name") as? String == "a")
    }

    @Test(arguments: StoreKind.allCases)
    func `A block on a queue is an event`(kind: StoreKind) async throws {
        let stack = try TestStack(kind)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        context.performAndWait { context.undoManager = UndoManager() }
        context.performAndWait { _ = stack.insert("Person", ["name": "a"], into: context) }
        context.performAndWait {
            context.insertedObjects.first?.setValue("b", forKey: "name")
            context.insertedObjects.first?.setValue(4, forKey: "age")
        }
        await context.perform { context.insertedObjects.first?.setValue("c", forKey: "name") }
        let names: [String?] = context.performAndWait {
            #expect(context.undoManager?.groupingLevel == 0 && context.undoManager?.undoCount == 3)
            return (0..<2).map { _ in
                context.undo()
                return context.insertedObjects.first?.value(forKey: "name") as? String
            }
        }
        #expect(names == ["b", "a"])
    }

    @Test
    @MainActor func `An event of the main queue is a group`() async throws {
        let stack = try TestStack(.inMemory)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        context.undoManager = UndoManager()
        let person = stack.insert("Person", ["name": "a"], into: context)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(context.undoManager?.undoCount == 1 && context.undoManager?.groupingLevel == 0)
        person.setValue("b", forKey: "name")
        person.setValue(3, forKey: "age")
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(context.undoManager?.undoCount == 2)
        context.undo()
        #expect(person.value(forKey: "name") as? String == "a" && person.value(forKey: "age") as? Int == 1)
    }

    /// The main queue of an asynchronous program is not served by the main thread, and waiting for it from itself never ended.
    @Test
    @MainActor func `The main queue does not wait for itself`() throws {
        let stack = try TestStack(.inMemory)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        let person = context.performAndWait { stack.insert("Person", ["name": "a"], into: context) }
        #expect(person.isInserted)
    }

    @Test(arguments: StoreKind.allCases)
    func `Changes without registration stay`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let a = stack.insert("Group", ["title": "a"]), b = stack.insert("Group", ["title": "b"])
        let c = stack.insert("Group", ["title": "c"]), person = stack.insert("Person", ["name": "p", "group": a])
        stack.context.processPendingChanges()
        person.setValue(b, forKey: "group")
        stack.manager.disableUndoRegistration()
        person.setValue("q", forKey: "name")
        person.setValue(c, forKey: "group")
        stack.context.processPendingChanges()
        stack.manager.enableUndoRegistration()
        stack.context.undo()
        #expect(person.value(forKey: "name") as? String == "q")
        #expect(person.value(forKey: "group") as? NSManagedObject === a, "as before the change that was registered")
        #expect(a.members("people") == [person] && b.members("people") == [] && c.members("people") == [], "the two sides agree")
    }

    @Test(arguments: StoreKind.allCases)
    func `Rollback and reset clear the undo stack`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        person.setValue("b", forKey: "name")
        stack.context.rollback()
        #expect(!stack.manager.canUndo && stack.context.recorder?.journal.isEmpty == true)
        person.setValue("c", forKey: "name")
        stack.context.processPendingChanges()
        #expect(stack.manager.canUndo)
        stack.context.reset()
        #expect(!stack.manager.canUndo)
        stack.context.undo()
        let again = try stack.fetch("Person")[0]
        again.setValue("d", forKey: "name")
        stack.context.undo()
        #expect(again.value(forKey: "name") as? String == "a")
    }

    @Test
    func `The manager does not retain the context`() throws {
        let manager = UndoManager()
        weak var gone: NSManagedObjectContext?
        do {
            let stack = try TestStack(.inMemory)
            stack.context.undoManager = manager
            gone = stack.context
            stack.insert("Person", ["name": "a"])
            stack.context.processPendingChanges()
        }
        #expect(gone == nil && manager.canUndo)
        manager.undo()
        #expect(!manager.canUndo && !manager.canRedo)
    }

    @Test(arguments: StoreKind.allCases)
    func `Undone changes are announced`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let heard = Heard([.NSManagedObjectContextObjectsDidChange], of: stack.context)
        let a = stack.insert("Person", ["name": "a"]), b = stack.insert("Person", ["name": "b"])
        try stack.context.save()
        stack.manager.removeAllActions()
        let c = stack.group {
            a.setValue("x", forKey: "name")
            stack.context.delete(b)
            return stack.insert("Person", ["name": "c"])
        }
        _ = heard.take()
        stack.context.undo()
        let told = heard.all.last
        #expect(told?.objects(NSUpdatedObjectsKey) == [a] && told?.objects(NSInsertedObjectsKey) == [b])
        #expect(told?.objects(NSDeletedObjectsKey) == [c])
        _ = heard.take()
        stack.context.redo()
        #expect(heard.all.last?.objects(NSDeletedObjectsKey) == [b] && heard.all.last?.objects(NSInsertedObjectsKey) == [c])
    }

    @Test(arguments: StoreKind.allCases)
    func `Changes by a handwritten accessor can be undone`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let person = stack.insert("Person", ["name": "a"])
        stack.context.processPendingChanges()
        stack.group {
            person.willChangeValue(forKey: "name")
            person.setPrimitiveValue("b", forKey: "name")
            person.didChangeValue(forKey: "name")
        }
        stack.group { person.setPrimitiveValue(5, forKey: "age") }
        #expect(stack.manager.undoCount == 2, "a primitive value alone is no change")
        stack.context.undo()
        #expect(person.value(forKey: "name") as? String == "a" && person.value(forKey: "age") as? Int == 5)
    }
}
