import Foundation
import Testing

@testable import Heartwood

/// Notifications and merges of saves between the contexts of a tree.
@Suite struct ChildMergingTests {
    /// Core Data does so, as a public test suite for Apple's platforms measures: a child's save is a pending change of the parent.
    @Test(arguments: StoreKind.allCases)
    func `A child that merges automatically sees the saves of its siblings once the parent saves`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann", "age": 1]), bob = stack.insert("Person", ["name": "bob"])
        try stack.context.save()
        let following = stack.context.child(), deaf = stack.context.child(), child = stack.context.child()
        following.automaticallyMergesChangesFromParent = true
        let grandchild = following.child()
        grandchild.automaticallyMergesChangesFromParent = true
        let contexts = [following, grandchild, deaf]
        for context in contexts { #expect(context.own(ann).text("name") == "ann" && context.own(bob).text("name") == "bob") }
        let held = deaf.own(ann)
        #expect(held.text("name") == "ann")
        following.own(ann).setValue(5, forKey: "age")
        child.own(ann).setValue("new", forKey: "name")
        child.delete(child.own(bob))
        let gone = contexts.map { $0.own(bob) }
        try child.save()
        #expect(contexts.map { $0.own(ann).text("name") } == ["ann", "ann", "ann"] && !gone.contains(where: \.isDeleted))
        try stack.context.save()
        #expect(contexts.map { $0.own(ann).text("name") } == ["new", "new", "ann"], "what it holds stays")
        #expect(deaf.own(ann) === held)
        #expect(gone.map(\.isDeleted) == [true, true, false])
        #expect(following.own(ann).value(forKey: "age") as? Int == 5 && following.updatedObjects.count == 1)
        following.automaticallyMergesChangesFromParent = false
        child.own(ann).setValue("newer", forKey: "name")
        try child.save()
        try stack.context.save()
        #expect(following.own(ann).text("name") == "new")
    }

    @Test(arguments: StoreKind.allCases)
    func `A child that merges automatically sees the saves and merges of its parent`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"])
        try stack.context.save()
        let child = stack.context.child()
        child.automaticallyMergesChangesFromParent = true
        let mine = child.own(ann)
        #expect(mine.text("name") == "ann")
        ann.setValue("saved", forKey: "name")
        #expect(mine.text("name") == "ann")
        try stack.context.save()
        #expect(mine.text("name") == "saved")
        stack.context.automaticallyMergesChangesFromParent = true
        let other = stack.newContext()
        other.own(ann).setValue("elsewhere", forKey: "name")
        try other.save()
        #expect(ann.text("name") == "elsewhere" && mine.text("name") == "elsewhere" && !child.hasChanges)
        if kind == .recordLog {
            let process = try TestStack(kind, at: stack.url)
            try process.fetch("Person")[0].setValue("process", forKey: "name")
            try process.context.save()
            _ = try stack.fetch("Person")
            #expect(ann.text("name") == "process" && mine.text("name") == "process")
        }
    }

    @Test(arguments: StoreKind.allCases, [NSManagedObjectContext.didSaveObjectsNotification, .NSManagedObjectContextDidSaveObjectIDs])
    func `Notifications are merged across the tree`(kind: StoreKind, name: Notification.Name) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"])
        try stack.context.save()
        let gone = stack.insert("Person", ["name": "gone"]), bob = stack.insert("Person", ["name": "bob"])
        let child = stack.context.child(), sibling = stack.context.child()
        let heard = Heard([name], of: child), heardRoot = Heard([name], of: stack.context)
        let known = [ann, gone, bob].map(sibling.own)
        #expect(known.map { $0.text("name") } == ["ann", "gone", "bob"])
        child.own(ann).setValue("new", forKey: "name")
        child.delete(child.own(gone))
        child.own(bob).setValue("bobby", forKey: "name")
        let new = stack.insert("Person", ["name": "cid"], into: child)
        try child.save()
        let saved = try #require(heard.take())
        let told = Heard([.NSManagedObjectContextObjectsDidChange], of: sibling)
        sibling.mergeChanges(fromContextDidSave: saved)
        #expect(known[0].text("name") == "new" && known[2].text("name") == "bobby" && known[1].managedObjectContext == nil)
        #expect(told.take()?.objects(NSInsertedObjectsKey)?.map(\.objectID) == [new.objectID])
        stack.context.mergeChanges(fromContextDidSave: saved)
        #expect(stack.context.hasChanges && stack.context.insertedObjects.count == 2, "the parent has it already")
        try stack.context.save()
        let root = try #require(heardRoot.take())
        sibling.mergeChanges(fromContextDidSave: root)
        #expect(sibling.own(new).objectID == stack.context.own(new).objectID && known[2].text("name") == "bobby")
        #expect(try stack.storedNames() == ["bobby", "cid", "new"] && !sibling.hasChanges)
        ann.setValue("last", forKey: "name")
        stack.context.delete(stack.context.own(bob))
        try stack.context.save()
        child.mergeChanges(fromContextDidSave: try #require(heardRoot.take()))
        #expect(child.own(ann).text("name") == "last" && child.deletedObjects.map(\.objectID) == [known[2].objectID])
    }

    @Test(arguments: StoreKind.allCases)
    func `A child's save posts notifications for the child only`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let child = stack.context.child()
        let names: [Notification.Name] = [.NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave]
        let heard = Heard(names, of: child), heardRoot = Heard(names, of: stack.context)
        let changed = Heard([.NSManagedObjectContextObjectsDidChange], of: stack.context)
        let new = stack.insert("Person", ["name": "new"], into: child)
        try child.save()
        #expect(heard.names == names && heardRoot.all.isEmpty)
        #expect(heard.all[1].objects(NSInsertedObjectsKey) == [new])
        stack.context.processPendingChanges()
        #expect(changed.take()?.objects(NSInsertedObjectsKey) == [stack.context.own(new)])
    }

    @Test(arguments: StoreKind.allCases)
    func `All callbacks of a save run in the child`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let old = try stack.savedDiarist("old")
        _ = old.look()
        let child = stack.context.child()
        let mine = child.own(old) as! Diarist
        mine.title = "new"
        _ = mine.look()
        var rounds = 0
        mine.onWillSave = { object in
            rounds += 1
            if rounds < 3 { object.title = "new \(rounds)" }
        }
        mine.onDidSave = { #expect(!$0.isDeleted) }
        try child.save()
        #expect(rounds == 3 && old.title == "new 2" && mine.title == "new 2" && !mine.hasChanges)
        #expect(!old.look().contains("saving"), "the parent saves nothing")
    }

    /// Whether or not a fault there has fired and found nothing, which counts as a deletion.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `A member that a sibling has deleted is not saved`(kind: StoreKind, isSeen: Bool) throws {
        let stack = try TestStack(kind)
        let first = stack.context.child(), second = stack.context.child()
        let person = stack.insert("Person", ["name": "Ann"])
        try stack.context.save()
        let tag = stack.insert("Tag", ["label": "gone"])
        let mine = second.own(person)
        mine.mutableSetValue(forKey: "tags").add(second.own(tag))
        first.delete(first.own(tag))
        try first.save()
        second.refreshAllObjects()
        if isSeen { #expect(second.own(tag).value(forKey: "label") == nil && second.own(tag).isDeleted) }
        try second.save()
        #expect(person.many("tags").isEmpty)
        try stack.context.save()
        #expect(stack.newContext().own(person).many("tags").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `A child that merges automatically sees unsaved changes that its parent drops`(kind: StoreKind) throws {
        let stack = try TestStack(kind), undoManager = UndoManager()
        stack.context.undoManager = undoManager
        let people = ["ann", "bob", "cid"].map { stack.insert("Person", ["name": $0]) }, ann = people[0]
        stack.context.processPendingChanges()
        let child = stack.context.child(), deaf = stack.context.child()
        child.automaticallyMergesChangesFromParent = true
        let mine = people.map(child.own), theirs = deaf.own(ann)
        #expect(mine.map { $0.text("name") } == ["ann", "bob", "cid"] && theirs.text("name") == "ann")
        stack.context.delete(ann)
        try stack.context.save()
        #expect(mine.map { $0.managedObjectContext == nil } == [true, false, false] && mine[0].isDeleted)
        #expect(theirs.managedObjectContext === deaf && mine[1].text("name") == "bob")
        // One that was restored stays.
        let dan = stack.insert("Person", ["name": "dan"]), eve = stack.insert("Person", ["name": "eve"])
        stack.context.processPendingChanges()
        undoManager.removeAllActions()
        let more = [dan, eve].map(child.own)
        #expect(more.map { $0.text("name") } == ["dan", "eve"])
        stack.context.delete(dan)
        stack.context.processPendingChanges()
        undoManager.undo()
        try stack.context.save()
        #expect(more.allSatisfy { $0.managedObjectContext === child })
        // Also if there is nothing to save.
        let fay = stack.insert("Person", ["name": "fay"]), last = child.own(fay)
        #expect(last.text("name") == "fay")
        stack.context.rollback()
        try stack.context.save()
        #expect(last.managedObjectContext == nil && !child.hasChanges)
    }
}
