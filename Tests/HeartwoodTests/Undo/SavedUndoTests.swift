import Foundation
import Testing

@testable import Heartwood

/// Undo and redo around saves, and beside other contexts.
@Suite struct SavedUndoTests {
    @Test(arguments: StoreKind.allCases)
    func `An undo after a save is an unsaved change`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let person = stack.group { stack.insert("Person", ["name": "a"]) }
        try stack.context.save()
        stack.group { person.setValue("b", forKey: "name") }
        try stack.context.save()
        #expect(!stack.context.hasChanges && stack.manager.undoCount == 2, "a save forgets nothing")
        stack.context.undo()
        #expect(person.isUpdated && person.hasPersistentChangedValues && person.changedValues()["name"] as? String == "a")
        try stack.context.save()
        #expect(try stack.names(nil) == ["a"] && stack.stored().values.first?["name"] == "a")
        stack.context.redo()
        #expect(person.isUpdated)
        try stack.saveAndForget()
        #expect(try stack.stored().values.first?["name"] == "b" && person.value(forKey: "name") as? String == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `Undoing a saved insertion deletes the object`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.insert("Group", ["title": "g"])
        let person = stack.group { stack.insert("Person", ["name": "a", "group": group]) }
        try stack.context.save()
        let id = person.objectID
        let before = try stack.stored()
        stack.context.undo()
        #expect(person.isDeleted && stack.context.deletedObjects == [person] && group.members("people") == [])
        try stack.context.save()
        #expect(person.managedObjectContext == nil)
        #expect(try stack.stored().count == 1)
        stack.context.redo()
        #expect(person.isInserted && person.objectID == id && person.managedObjectContext === stack.context)
        #expect(person.value(forKey: "name") as? String == "a" && group.members("people") == [person])
        try stack.saveAndForget()
        #expect(try stack.stored() == before && !person.isInserted)
        person.setValue("b", forKey: "name")
        try stack.context.save()
        #expect(try stack.names(nil) == ["b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A saved deletion comes back as the same object`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "t"])
        let tasks = (0..<3).map { stack.insert("Task", ["title": "\($0)"]) }
        let partner = stack.insert("Person", ["name": "p"])
        let person = stack.insert("Person", ["name": "a", "group": group, "tags": NSSet(object: tag), "partner": partner])
        person.setValue(NSOrderedSet(array: [tasks[1], tasks[2], tasks[0]]), forKey: "tasks")
        try stack.saveAndForget()
        let before = try stack.stored()
        for isRead in [true, false] {
            if isRead { _ = person.plain }
            stack.group { stack.context.delete(person) }
            try stack.context.save()
            #expect(try stack.stored().count == before.count - 4)
            // A caller that asks for it meanwhile gets a fault, which must not stand in the way.
            let ghost = stack.context.object(with: person.objectID)
            #expect(ghost !== person)
            if isRead { #expect(ghost.value(forKey: "name") == nil && ghost.isDeleted) }
            stack.context.undo()
            #expect(person.isInserted && ghost.managedObjectContext == nil)
            #expect(stack.context.object(with: person.objectID) === person)
            #expect(person.members("tasks") == [tasks[1], tasks[2], tasks[0]])
            #expect(try stack.fetch("Person", "name = 'a'") == [person])
            try stack.saveAndForget()
            #expect(try stack.stored() == before)
            stack.context.redo()
            try stack.context.save()
            #expect(try stack.stored().count == before.count - 4)
            stack.context.undo()
            try stack.saveAndForget()
            #expect(try stack.stored() == before)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `An undone change is kept after reopening`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let person = stack.insert("Person", ["name": "a"])
        let task = stack.insert("Task", ["title": "t", "owner": person])
        try stack.context.save()
        stack.manager.removeAllActions()
        stack.group { stack.context.delete(person) }
        try stack.context.save()
        stack.context.undo()
        try stack.context.save()
        #expect(task.value(forKey: "owner") as? NSManagedObject === person)
        guard kind.isFile else { return }
        let before = try stack.stored()
        try stack.coordinator.remove(stack.coordinator.persistentStores[0])
        let again = try TestStack(kind, at: stack.url)
        #expect(Set(try again.stored().values.map { $0["name"] ?? $0["title"] }) == Set(before.values.map { $0["name"] ?? $0["title"] }))
        #expect(try again.fetch("Person")[0].members("tasks").count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `Changes in willSave are undone with their event`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        stack.context.undoManager = UndoManager()
        stack.manager.groupsByEvent = false
        let diarist = try stack.savedDiarist("one")
        stack.manager.removeAllActions()
        diarist.onWillSave = { if $0.value(forKey: "count") as? Int == 7 { $0.setValue(8, forKey: "count") } }
        diarist.title = "two"
        try stack.context.save()
        #expect(diarist.value(forKey: "count") as? Int == 8 && stack.manager.undoCount == 1)
        stack.context.undo()
        #expect(diarist.title == "one" && diarist.value(forKey: "count") as? Int == 7)
    }

    @Test(arguments: StoreKind.allCases)
    func `Objects are notified of an undo`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        stack.context.undoManager = UndoManager()
        stack.manager.groupsByEvent = false
        let one = try stack.savedDiarist("one")
        let two = stack.group { () -> Diarist in
            one.title = "changed"
            return stack.insertDiarist("two")
        }
        stack.group { stack.context.delete(one) }
        _ = (one.look(), two.look())
        stack.context.undo()
        #expect(one.look() == ["deletion undone"] && two.look() == [])
        stack.context.undo()
        #expect(one.look() == ["update undone"] && two.look().last == "insertion undone")
        one.onWake = { $0.setValue("set on waking", forKey: "note") }
        stack.context.redo()
        #expect(one.look() == ["update undone"] && two.look().last == "deletion undone", "a redo is the undo of an undo")
        #expect(one.value(forKey: "note") as? String == "set on waking")
        stack.context.undo()
        #expect(one.title == "one")
    }

    @Test(arguments: StoreKind.allCases)
    func `Saves of others are not undone`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let mine = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        stack.manager.removeAllActions()
        let other = stack.newContext()
        let heard = Heard([.NSManagedObjectContextDidSave], of: other)
        let theirs = other.object(with: mine.objectID)
        theirs.setValue(30, forKey: "age")
        stack.group { mine.setValue("b", forKey: "name") }
        try other.save()
        stack.context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        #expect(stack.manager.undoCount == 1 && mine.value(forKey: "age") as? Int == 30)
        stack.context.undo()
        #expect(mine.value(forKey: "name") as? String == "a" && mine.value(forKey: "age") as? Int == 30)
        try stack.context.save()
        #expect(try stack.stored().values.first?["age"] == "30")
    }

    @Test(arguments: StoreKind.allCases)
    func `An undo leaves out objects that are gone`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "t"])
        let person = stack.insert("Person", ["name": "a", "group": group, "tags": NSSet(object: tag)])
        let kept = stack.insert("Person", ["name": "k", "group": group, "tags": NSSet(object: tag)])
        try stack.saveAndForget()
        stack.manager.removeAllActions()
        stack.group {
            for object in [person, kept] {
                object.setValue("b", forKey: "name")
                object.setValue(nil, forKey: "group")
                object.setValue(NSSet(), forKey: "tags")
            }
        }
        try stack.context.save()
        let other = stack.newContext()
        let heard = Heard([.NSManagedObjectContextDidSave], of: other)
        for object in [person, group, tag] { other.delete(other.object(with: object.objectID)) }
        try other.save()
        stack.context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        stack.context.undo()
        #expect(kept.value(forKey: "name") as? String == "k" && kept.value(forKey: "group") == nil && kept.members("tags") == [])
        stack.context.redo()
        #expect(kept.value(forKey: "name") as? String == "b")
        stack.context.undo()
        try stack.context.save()
        #expect(try stack.names(nil) == ["k"])
    }

    @Test(arguments: StoreKind.allCases)
    func `An undo leaves out objects that have vanished unnoticed`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let person = stack.insert("Person", ["name": "a"])
        try stack.saveAndForget()
        stack.manager.removeAllActions()
        stack.group { person.setValue("b", forKey: "name") }
        try stack.saveAndForget()
        let other = stack.newContext()
        other.delete(other.object(with: person.objectID))
        try other.save()
        stack.context.undo()
        #expect(person.isDeleted && !stack.manager.canRedo)
        try stack.context.save()
        #expect(try stack.stored().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `A failed save keeps the undo stack`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.insert("Group", [:])
        #expect(throws: NSError.self) { try stack.context.save() }
        stack.context.undo()
        #expect(group.managedObjectContext == nil && !stack.context.hasChanges)
        try stack.context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `A merge policy's decisions are not undone`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let mine = stack.insert("Person", ["name": "a", "email": "e"])
        try stack.saveAndForget()
        stack.manager.removeAllActions()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let twin = stack.group { stack.insert("Person", ["name": "b", "email": "e"]) }
        try stack.context.save()
        #expect(mine.value(forKey: "name") as? String == "b" && twin.managedObjectContext == nil)
        stack.context.undo()
        #expect(mine.value(forKey: "name") as? String == "b" && !stack.manager.canRedo)
        try stack.context.save()
        #expect(try stack.stored().count == 1)
    }
}
