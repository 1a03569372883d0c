import Foundation
import Testing

@testable import Heartwood

/// Unsaved insertions that are refreshed: only the context has their values.
@Suite struct RefreshedInsertionTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func `A refreshed insertion is a fault that has its defaults again`(kind: StoreKind, hasPermanentID: Bool) throws {
        let stack = try TestStack(kind), context = stack.context
        let group = stack.insert("Group", ["title": "g"])
        try context.save()
        let ann = stack.insert("Person", ["name": "ann", "age": 9, "group": group])
        if hasPermanentID { try context.obtainPermanentIDs(for: [ann]) }
        context.processPendingChanges()
        let heard = Heard([.NSManagedObjectContextObjectsDidChange], of: context)
        context.refresh(ann, mergeChanges: true)
        #expect(!ann.isFault && ann.text("name") == "ann")
        context.refresh(ann, mergeChanges: false)
        #expect(ann.isFault && ann.faultingState == 1 && ann.isInserted && context.insertedObjects == [ann] && ann.managedObjectContext === context)
        context.processPendingChanges()
        #expect(heard.all.last?.objects(NSRefreshedObjectsKey) == [ann])
        #expect(group.many("people").isEmpty, "it is nobody's member any more")
        #expect(ann.value(forKey: "name") == nil && !ann.isFault)
        #expect(ann.value(forKey: "age") as? Int == 1 && ann.one("group") == nil && ann.many("tags").isEmpty)
        ann.setValue("Ann", forKey: "name")
        try context.save()
        let stored = try #require(try stack.fetch("Person", in: stack.anew()).first)
        #expect(stored.text("name") == "Ann" && stored.value(forKey: "age") as? Int == 1 && stored.one("group") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `A save of the fault writes the defaults`(kind: StoreKind) throws {
        let stack = try TestStack(kind), ann = stack.insert("Person", ["name": "ann", "age": 9])
        stack.context.refresh(ann, mergeChanges: false)
        try stack.context.save()
        #expect(!ann.isInserted && ann.value(forKey: "name") == nil && ann.value(forKey: "age") as? Int == 1)
        #expect(try stack.fetch("Person", in: stack.anew()).map { $0.value(forKey: "age") as? Int } == [1])
    }

    @Test
    func `A write fires the fault`() throws {
        let stack = try TestStack(.inMemory), ann = stack.insert("Person", ["name": "ann"])
        stack.context.refresh(ann, mergeChanges: false)
        ann.setValue(3, forKey: "age")
        #expect(!ann.isFault && ann.value(forKey: "age") as? Int == 3)
    }

    @Test
    func `A refreshed insertion turns into a fault as other objects do`() throws {
        let stack = try Diarist.stack(.inMemory)
        let one = stack.insert("Diarist", ["title": "one"]) as! Diarist
        _ = one.look()
        stack.context.refresh(one, mergeChanges: false)
        #expect(one.look() == ["leaving one", "left true"])
        #expect(one.isFault && one.title == "untitled" && !one.isFault && one.look() == [], "nothing was fetched")
    }

    /// An object whose saved deletion was undone counts as inserted too, under its old ID.
    @Test(arguments: StoreKind.numbering)
    func `An insertion that came back by an undo is written under its ID`(kind: StoreKind) throws {
        let stack = try TestStack(kind), manager = UndoManager()
        stack.context.undoManager = manager
        let ann = stack.insert("Person", ["name": "ann"])
        try stack.context.save()
        manager.removeAllActions()
        let id = ann.objectID
        stack.context.delete(ann)
        try stack.context.save()
        manager.undo()
        stack.context.refresh(ann, mergeChanges: false)
        #expect(ann.isFault && ann.isInserted && ann.value(forKey: "name") == nil)
        try stack.context.save()
        #expect(try stack.fetch("Person", in: stack.anew()).map(\.objectID) == [id])
    }

    @Test
    func `A refreshed insertion must have its required values`() throws {
        let model = TestStack.model()
        model.entitiesByName["Tag"]?.attributesByName["label"]?.isOptional = false
        let stack = try TestStack(.inMemory, model: model), tag = stack.insert("Tag", ["label": "a"])
        stack.context.refresh(tag, mergeChanges: false)
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        tag.setValue("b", forKey: "label")
        try stack.context.save()
    }

    @Test
    func `In a child a refreshed insertion is saved to the parent with its defaults`() throws {
        let stack = try TestStack(.inMemory), child = stack.context.child()
        let ann = stack.insert("Person", ["name": "ann", "age": 9], into: child)
        child.refresh(ann, mergeChanges: false)
        #expect(ann.isFault)
        try child.save()
        let mine = stack.context.own(ann)
        #expect(mine.value(forKey: "name") == nil && mine.value(forKey: "age") as? Int == 1)
        // The parent's object becomes a fault by a refresh, and the child reads the remaining values.
        mine.setValue("x", forKey: "name")
        stack.context.refresh(mine, mergeChanges: false)
        #expect(mine.isFault)
        child.refresh(ann, mergeChanges: false)
        #expect(ann.value(forKey: "name") == nil && ann.value(forKey: "age") as? Int == 1)
    }

    @Test
    func `A list has a refreshed insertion at the position of its defaults`() throws {
        let stack = try TestStack(.inMemory)
        for (name, age) in [("ann", 5), ("bob", 7)] { stack.insert("Person", ["name": name, "age": age]) }
        let controller = stack.controller("age > 4", sort: ["age"]), mirror = ListMirror()
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
        stack.context.refresh(try #require(controller.fetchedObjects?.first), mergeChanges: false)
        stack.context.processPendingChanges()
        #expect(mirror.takeLog() == ["will", "delete - 0.0 -", "did"] && controller.shown == "bob" && mirror.problems == [])
    }
}
