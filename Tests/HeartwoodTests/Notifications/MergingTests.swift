import Foundation
import Testing

@testable import Heartwood

@Suite struct MergingTests {
    private func label(_ set: Any?) -> [String] {
        ((set as? NSSet)?.allObjects ?? []).compactMap { ($0 as? NSManagedObject)?.value(forKey: "label") as? String }.sorted()
    }

    @Test(arguments: StoreKind.allCases, [NSManagedObjectContext.didSaveObjectsNotification, .NSManagedObjectContextDidSaveObjectIDs])
    func `A save of another context is merged under unsaved changes`(kind: StoreKind, name: Notification.Name) throws {
        let stack = try TestStack(kind)
        let people = ["a", "b", "c", "d"].map { stack.insert("Person", ["name": $0]) }
        let red = stack.insert("Tag", ["label": "red"]), blue = stack.insert("Tag", ["label": "blue"])
        people[0].setValue(Set([red]), forKey: "tags")
        try stack.context.save()
        for person in people { #expect(person.value(forKey: "age") as? Int == 1 && label(person.value(forKey: "tags")).count < 2) }
        people[0].setValue(50, forKey: "age")
        let other = stack.newContext()
        let heard = Heard([name], of: other)
        for person in people.prefix(2) {
            let theirs = try other.existingObject(with: person.objectID)
            theirs.setValue("new", forKey: "name")
            theirs.mutableSetValue(forKey: "tags").add(other.object(with: blue.objectID))
        }
        other.delete(other.object(with: people[2].objectID))
        stack.insert("Person", ["name": "e"], into: other)
        try other.save()
        #expect(people[1].value(forKey: "name") as? String == "b", "a context shows what it has read until it is told")
        let told = Heard([.NSManagedObjectContextObjectsDidChange], of: stack.context)
        let merged = Heard([NSManagedObjectContext.didMergeChangesObjectIDsNotification], of: stack.context)
        stack.context.processPendingChanges()
        _ = told.take()
        stack.context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        #expect(people[0].value(forKey: "name") as? String == "new" && people[0].value(forKey: "age") as? Int == 50)
        #expect(people[1].value(forKey: "name") as? String == "new" && !people[1].hasChanges)
        #expect(label(people[0].value(forKey: "tags")) == ["blue", "red"])
        #expect(people[2].isDeleted && people[2].managedObjectContext === stack.context && stack.context.deletedObjects == [people[2]])
        let change = try #require(told.take())
        #expect(change.objects(NSRefreshedObjectsKey)?.isSuperset(of: people.prefix(2)) == true)
        #expect(change.objects(NSDeletedObjectsKey) == [people[2]] && change.objects(NSInsertedObjectsKey)?.count == 1)
        let report = merged.take()
        #expect(report?.ids(NSDeletedObjectIDsKey) == [people[2].objectID])
        #expect(report?.userInfo?[NSManagedObjectContext.NotificationKey.sourceContext.rawValue] as? NSManagedObjectContext === other)
        try stack.context.save()
        #expect(people[2].managedObjectContext == nil)
        let third = stack.newContext()
        let stored = try third.existingObject(with: people[0].objectID)
        #expect(stored.value(forKey: "name") as? String == "new" && stored.value(forKey: "age") as? Int == 50, "no conflict is left")
    }

    @Test(arguments: StoreKind.allCases)
    func `A merged object is still compared by the next save`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let mine = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        mine.setValue(2, forKey: "age")
        let other = stack.newContext()
        let heard = Heard([.NSManagedObjectContextDidSave], of: other)
        let theirs = try other.existingObject(with: mine.objectID)
        theirs.setValue("b", forKey: "name")
        try other.save()
        stack.context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        theirs.setValue("c", forKey: "name")
        try other.save()
        #expect(throws: NSError.self) { try stack.context.save() }
        #expect(mine.value(forKey: "name") as? String == "b" && mine.value(forKey: "age") as? Int == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `Remote changes are merged by IDs and URIs`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let a = stack.insert("Person", ["name": "a"]), b = stack.insert("Person", ["name": "b"])
        try stack.context.save()
        #expect(a.value(forKey: "name") != nil && b.value(forKey: "name") != nil)
        let other = stack.newContext()
        other.object(with: a.objectID).setValue("x", forKey: "name")
        other.delete(other.object(with: b.objectID))
        try other.save()
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [a.objectID], NSDeletedObjectsKey: [b.objectID.uriRepresentation()]],
            into: [stack.context])
        #expect(a.value(forKey: "name") as? String == "x" && b.isDeleted)
        other.object(with: a.objectID).setValue("y", forKey: "name")
        try other.save()
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInvalidatedObjectIDsKey: [a.objectID]], into: [stack.context])
        #expect(a.value(forKey: "name") as? String == "y")
    }

    @Test(arguments: StoreKind.allCases)
    func `A context may merge automatically`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let mine = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        #expect(mine.value(forKey: "name") as? String == "a")
        stack.context.automaticallyMergesChangesFromParent = true
        #expect(stack.context.automaticallyMergesChangesFromParent)
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = stack.coordinator
        func rename(_ name: String) throws {
            try other.performAndWait {
                other.object(with: mine.objectID).setValue(name, forKey: "name")
                try other.save()
            }
        }
        try rename("b")
        #expect(mine.value(forKey: "name") as? String == "b")
        stack.context.automaticallyMergesChangesFromParent = false
        try rename("c")
        #expect(mine.value(forKey: "name") as? String == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `A context that merges from before it has a coordinator merges the saves of others`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.automaticallyMergesChangesFromParent = true
        context.persistentStoreCoordinator = stack.coordinator
        let mine = try context.existingObject(with: person.objectID)
        #expect(mine.value(forKey: "name") as? String == "a")
        person.setValue("b", forKey: "name")
        try stack.context.save()
        #expect(mine.value(forKey: "name") as? String == "b")
    }

    /// A batch deletion's notification has only the deleted objects: members that were read once stayed as inaccessible faults.
    @Test(arguments: StoreKind.batching)
    func `Relationships that were read follow a dictionary that names one side`(kind: StoreKind) throws {
        let stack = try TestStack(kind), other = stack.newContext(), child = stack.context.child()
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "t"])
        let people = ["a", "b", "c"].map { stack.insert("Person", ["name": $0, "group": group, "tags": Set([tag])]) }
        try stack.context.save()
        #expect(group.many("people").count == 3 && tag.many("people").count == 3 && child.own(group).many("people").count == 3)
        func deleted(_ entity: String, _ format: String) throws -> [NSManagedObjectID] {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
            request.predicate = NSPredicate(format: format)
            let deletion = NSBatchDeleteRequest(fetchRequest: request)
            deletion.resultType = .resultTypeObjectIDs
            return try #require((try other.execute(deletion) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])
        }
        func merge(_ key: String, _ ids: [NSManagedObjectID]) {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: [stack.context, child])
        }
        merge(NSDeletedObjectsKey, try deleted("Person", "name == 'b'"))
        #expect(group.many("people") == [people[0], people[2]] && tag.many("people") == [people[0], people[2]])
        #expect(child.own(group).many("people").count == 2)
        let late = stack.insert("Person", ["name": "d", "group": other.own(group)], into: other)
        try other.save()
        people[0].setValue("changed", forKey: "name")
        merge(NSInsertedObjectsKey, [late.objectID])
        #expect(group.many("people").count == 3 && child.own(group).many("people").count == 3)
        merge(NSDeletedObjectsKey, try deleted("Group", "title == 'g'"))
        #expect(people[2].one("group") == nil)
        #expect(stack.context.updatedObjects == [people[0]] && stack.context.deletedObjects == [people[1], group] && child.updatedObjects.isEmpty)
    }

    /// By another context of the coordinator, whose save is merged through its notification, or by another coordinator, whose commit is noticed.
    @Test(arguments: [false, true], [false, true])
    func `Values merged into a deleted object show when the deletion is undone`(isElsewhere: Bool, isUndone: Bool) throws {
        let stack = try TestStack(.recordLog), elsewhere = try TestStack(.recordLog, at: stack.url)
        let people = ["ann", "bob", "cid"].map { stack.insert("Person", ["name": $0]) }, (ann, bob, cid) = (people[0], people[1], people[2])
        let old = stack.insert("Group", ["title": "old"]), new = stack.insert("Group", ["title": "new"])
        ann.setValue(old, forKey: "group")
        try stack.context.save()
        let undoManager = UndoManager()
        stack.context.undoManager = undoManager
        stack.context.automaticallyMergesChangesFromParent = isElsewhere
        for person in people { #expect(person.text("name") != nil && person.many("tags").isEmpty) }
        #expect(old.many("people") == [ann] && new.many("people").isEmpty)
        ann.setValue(50, forKey: "age")
        stack.context.processPendingChanges()
        undoManager.removeAllActions()
        for person in people { stack.context.delete(person) }
        stack.context.processPendingChanges()
        let other = isElsewhere ? elsewhere.context : stack.newContext()
        let heard = Heard([.NSManagedObjectContextDidSave], of: other)
        // A fetch makes the other coordinator notice the save.
        let theirs = try #require(try stack.fetch("Person", "name == 'ann'", in: other).first)
        theirs.setValue("Ann", forKey: "name")
        theirs.setValue(other.own(new), forKey: "group")
        theirs.mutableSetValue(forKey: "tags").add(elsewhere.insert("Tag", ["label": "t"], into: other))
        other.delete(other.own(bob))
        try other.save()
        if isElsewhere { _ = try stack.fetch("Tag") } else { stack.context.mergeChanges(fromContextDidSave: try #require(heard.take())) }
        #expect(ann.isDeleted && stack.context.deletedObjects == Set(people))
        if isUndone { stack.context.undo() } else { stack.context.rollback() }
        #expect(ann.text("name") == "Ann" && ann.value(forKey: "age") as? Int == (isUndone ? 50 : 1) && cid.text("name") == "cid")
        #expect(ann.one("group") === new && ann.many("tags").count == 1 && ann.many("tags").first?.many("people") == [ann])
        #expect(new.many("people") == [ann] && old.many("people").isEmpty)
        // The other context has deleted it too; undoing the own deletion inserts the object again.
        #expect(isUndone ? bob.isInserted && bob.text("name") == "bob" : bob.managedObjectContext == nil)
        // A merged object is no conflict.
        ann.setValue("mine", forKey: "name")
        try stack.context.save()
        let stored = try stack.anew().existingObject(with: ann.objectID)
        #expect(stored.text("name") == "mine" && stored.one("group")?.text("title") == "new" && stored.many("tags").count == 1)
        #expect(try stack.storedNames() == (isUndone ? ["bob", "cid", "mine"] : ["cid", "mine"]))
    }

    @Test
    func `An object that another coordinator has saved is found by its ID`() throws {
        let stack = try TestStack(.recordLog), other = try TestStack(.recordLog, at: stack.url)
        for reader in [other.context, other.context.child()] {
            let ann = stack.insert("Person", ["name": "ann"])
            try stack.context.save()
            let id = try #require(other.coordinator.managedObjectID(forURIRepresentation: ann.objectID.uriRepresentation()))
            #expect(try reader.existingObject(with: id).text("name") == "ann")
            let nobody = try #require(other.coordinator.managedObjectID(forURIRepresentation: URL(string: "\(ann.objectID.uriRepresentation())9")!))
            #expect(throws: NSError.self) { try reader.existingObject(with: nobody) }
        }
    }

    /// A save notices others' commits in its course, when its own rows are already written.
    @Test(arguments: [true, false])
    func `A save ends before commits of others are merged`(isNew: Bool) throws {
        let stack = try TestStack(.recordLog), context = stack.context
        let ann = stack.insert("Person", ["name": "ann"]), bob = stack.insert("Person", ["name": "bob"])
        let old = stack.insert("Group", ["title": "old"])
        try context.save()
        context.automaticallyMergesChangesFromParent = true
        let another = try TestStack(.recordLog, at: stack.url)
        try #require(try another.fetch("Person", "name == 'bob'").first).setValue("Bob", forKey: "name")
        let group = isNew ? stack.insert("Group", ["title": "new"]) : old
        ann.setValue(group, forKey: "group")
        try another.context.save()
        try context.save()
        #expect(ann.value(forKey: "group") as? NSManagedObject === group && !group.objectID.isTemporaryID)
        #expect(bob.value(forKey: "name") as? String == "Bob" && !context.hasChanges)
        #expect(context.object(with: group.objectID) === group)
    }
}
