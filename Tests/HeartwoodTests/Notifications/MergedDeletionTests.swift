import Foundation
import Testing

@testable import Heartwood

/// A merged deletion is among a context's deleted objects until its next save.
@Suite struct MergedDeletionTests {
    /// The way in which a context learns of the deletion.
    enum Way: CaseIterable {
        case notification, ids, remote, followed

        func merge(_ saved: [Notification], _ context: NSManagedObjectContext) throws {
            switch self {
            case .notification: context.mergeChanges(fromContextDidSave: try #require(saved.first { $0.name == .NSManagedObjectContextDidSave }))
            case .ids: context.mergeChanges(fromContextDidSave: try #require(saved.first { $0.name == .NSManagedObjectContextDidSaveObjectIDs }))
            case .remote:
                let ids = try #require(saved.last?.ids(NSDeletedObjectIDsKey))
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: Array(ids)], into: [context])
            case .followed: break
            }
        }
    }

    private struct Merged {
        let stack: TestStack
        let context: NSManagedObjectContext
        let ann: NSManagedObject, bob: NSManagedObject
        let theirs: NSManagedObject
    }

    /// A context that knew bob and has merged his deletion.
    private func merged(_ kind: StoreKind, _ way: Way = .notification, isChanged: Bool = false) throws -> Merged {
        let stack = try TestStack(kind)
        for name in ["ann", "bob"] { stack.insert("Person", ["name": name]) }
        try stack.context.save()
        let context = stack.anew()
        context.automaticallyMergesChangesFromParent = way == .followed
        let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "name", ascending: true)], in: context)
        if isChanged { people[1].setValue(9, forKey: "age") }
        let heard = Heard([.NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs], of: stack.context)
        let theirs = stack.context.own(people[1])
        stack.context.delete(theirs)
        try stack.context.save()
        try way.merge(heard.all, context)
        return Merged(stack: stack, context: context, ann: people[0], bob: people[1], theirs: theirs)
    }

    @Test(arguments: StoreKind.allCases, Way.allCases)
    func `A merged deletion is pending until the next save`(kind: StoreKind, way: Way) throws {
        for isChanged in [false, true] {
            let merged = try merged(kind, way, isChanged: isChanged), context = merged.context, bob = merged.bob
            #expect(context.deletedObjects == [bob] && context.hasChanges && bob.isDeleted && bob.managedObjectContext === context)
            #expect(context.updatedObjects.isEmpty && bob.value(forKey: "name") == nil)
            #expect(context.registeredObjects.contains(bob) && context.registeredObject(for: bob.objectID) === bob)
            #expect(context.object(with: bob.objectID) === bob)
            #expect(throws: NSError.self) { try context.existingObject(with: bob.objectID) }
            #expect(try merged.stack.fetch("Person", in: context) == [merged.ann] && merged.ann.managedObjectContext === context)
            merged.ann.setValue("Ann", forKey: "name")
            let heard = Heard([.NSManagedObjectContextDidSave], of: context)
            try context.save()
            #expect(heard.take()?.objects(NSDeletedObjectsKey) == [bob])
            #expect(context.deletedObjects.isEmpty && !context.hasChanges && !bob.isDeleted && bob.managedObjectContext == nil)
            #expect(context.registeredObject(for: bob.objectID) == nil && context.pending.changeCount == 0)
            context.delete(bob)
            #expect(!context.hasChanges, "it is deleted already")
            #expect(try merged.stack.storedNames() == ["Ann"])
        }
    }

    /// A commit of another coordinator names no objects, so the context looks for those that it knows. It left out those without values.
    @Test(arguments: ["fault", "values", "saved"])
    func `A fault whose row another coordinator has deleted is a merged deletion too`(state: String) throws {
        let stack = try TestStack(.recordLog), other = try TestStack(.recordLog, at: stack.url), context = stack.context
        let people = ["ann", "bob"].map { stack.insert("Person", ["name": $0]) }
        try context.save()
        if state != "saved" { context.refreshAllObjects() }
        if state == "values" { for person in people { person.fireFault() } }
        for person in try other.fetch("Person", "name == 'bob'") { other.context.delete(person) }
        try other.context.save()
        stack.persistentStore.followOthers()
        context.mergeCommits(of: stack.persistentStore)
        #expect(context.deletedObjects == [people[1]] && people[1].isDeleted && !people[0].isDeleted)
        #expect(people[0].value(forKey: "name") as? String == "ann")
    }

    @Test(arguments: StoreKind.allCases)
    func `A save of only a merged deletion writes nothing`(kind: StoreKind) throws {
        let merged = try merged(kind)
        let bytes = StoreKind.recordLogs.contains(kind) ? merged.stack.bytesAppended : 0
        try merged.context.save()
        #expect(!merged.context.hasChanges && merged.bob.managedObjectContext == nil)
        if StoreKind.recordLogs.contains(kind) { #expect(merged.stack.bytesAppended == bytes) }
    }

    @Test(arguments: [false, true])
    func `A failed save keeps the merged deletion`(isRolledBack: Bool) throws {
        let merged = try merged(.inMemory), context = merged.context
        merged.ann.setValue("mine", forKey: "name")
        let theirs = merged.stack.context.own(merged.ann)
        theirs.setValue("theirs", forKey: "name")
        try merged.stack.context.save()
        #expect(throws: NSError.self) { try context.save() }
        #expect(context.deletedObjects == [merged.bob] && merged.bob.isDeleted)
        if isRolledBack { context.rollback() } else { context.reset() }
        #expect(context.deletedObjects.isEmpty && !context.hasChanges && merged.bob.managedObjectContext == nil)
        #expect(merged.bob.value(forKey: "name") == nil)
        #expect(try merged.stack.fetch("Person", in: context).map { $0.text("name") } == [isRolledBack ? "ann" : "theirs"])
        try context.save()
    }

    @Test
    func `Changes to a deleted object have no effect`() throws {
        let merged = try merged(.inMemory), context = merged.context, bob = merged.bob
        let heard = Heard([.NSManagedObjectContextObjectsDidChange], of: context)
        bob.setValue("x", forKey: "name")
        context.refresh(bob, mergeChanges: true)
        context.refresh(bob, mergeChanges: false)
        context.refreshAllObjects()
        context.detectConflicts(for: bob)
        context.delete(bob)
        try context.obtainPermanentIDs(for: [bob])
        context.processPendingChanges()
        #expect(heard.all.allSatisfy { $0.objects(NSUpdatedObjectsKey) == nil && $0.objects(NSDeletedObjectsKey) == nil })
        #expect(context.deletedObjects == [bob] && context.updatedObjects.isEmpty && context.pending.changeCount == 0)
        try context.save()
        #expect(try merged.stack.storedNames() == ["ann"])
    }

    /// The merge may come between two lines of a program that holds the object; setting its relationship ended the process.
    @Test(arguments: StoreKind.recordLogs)
    func `A relationship that is set to an object whose deletion was merged leads to none, and so does one of that object`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make()), context = stack.anew()
        let gone = ["Node", "Step", "Card", "Item"].map { stack.make($0, ["gone"])[0] }
        let there = ["Node", "Step", "Card", "Item"].map { stack.make($0, ["there"])[0] }
        try stack.context.save()
        let theirs = gone.map(context.own), ours = there.map(context.own)
        for object in theirs + ours { object.fireFault() }
        let heard = Heard([.NSManagedObjectContextDidSave], of: stack.context)
        for object in gone { stack.context.delete(object) }
        try stack.context.save()
        context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        #expect(theirs.allSatisfy { $0.isDeleted && $0.managedObjectContext === context })
        for (node, others) in [(ours[0], theirs), (theirs[0], ours), (theirs[0], theirs)] {
            node.setValue(others[0], forKey: "parent")
            node.setValue(others[2], forKey: "card")
            others[2].setValue(node, forKey: "holder")
            others[1].setValue(node, forKey: "owner")
            node.setValue(NSSet(array: [others[0]]), forKey: "friends")
            node.mutableSetValue(forKey: "children").add(others[0])
            node.mutableOrderedSetValue(forKey: "items").add(others[3])
            node.mutableOrderedSetValue(forKey: "steps").insert(others[1], at: 0)
            node.setValue(NSOrderedSet(array: [others[1]]), forKey: "steps")
            for key in ["parent", "card", "friends", "children", "items", "steps"] { #expect(node.names(key) == [], "\(key)") }
        }
        let steps = ours[0].mutableOrderedSetValue(forKey: "steps")
        steps.add(ours[1])
        steps.replaceObject(at: 0, with: theirs[1])
        #expect(ours[0].names("steps") == [] && ours[1].one("owner") == nil)
        try context.save()
        #expect(theirs.allSatisfy { $0.managedObjectContext == nil })
        #expect(try StoreAudit.findings(in: try #require(try stack.store.newestView() as? RecordLogView)).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `A deleted object can be inserted again`(kind: StoreKind) throws {
        let merged = try merged(kind), context = merged.context, bob = merged.bob, old = bob.objectID
        context.insert(bob)
        bob.setValue("Bob", forKey: "name")
        #expect(context.insertedObjects == [bob] && context.deletedObjects.isEmpty && bob.objectID != old)
        try context.save()
        #expect(try merged.stack.storedNames() == ["Bob", "ann"] && bob.managedObjectContext === context)
    }

    @Test(arguments: StoreKind.numbering)
    func `A row that is written again ends the merged deletion`(kind: StoreKind) throws {
        for isMerged in [false, true] {
            let stack = try TestStack(kind), context = stack.anew(), manager = UndoManager()
            stack.context.undoManager = manager
            let theirs = stack.insert("Person", ["name": "bob"])
            try stack.context.save()
            manager.removeAllActions()
            let heard = Heard([.NSManagedObjectContextDidSave], of: stack.context), bob = context.own(theirs)
            #expect(bob.text("name") == "bob")
            stack.context.delete(theirs)
            try stack.context.save()
            context.mergeChanges(fromContextDidSave: try #require(heard.take()))
            #expect(context.deletedObjects == [bob])
            manager.undo()
            try stack.context.save()
            let saved = try #require(heard.take())
            if isMerged {
                context.mergeChanges(fromContextDidSave: saved)
                #expect(context.deletedObjects.isEmpty && !context.hasChanges)
            }
            let again = context.own(theirs)
            #expect(again !== bob && again.text("name") == "bob")
            let told = Heard([.NSManagedObjectContextDidSave], of: context)
            try context.save()
            #expect(told.take()?.objects(NSDeletedObjectsKey) == [], "there is such an object")
            #expect(try stack.storedNames() == ["bob"])
        }
    }

    @Test
    func `An undo of the context's own deletion brings the object back`() throws {
        let stack = try TestStack(.inMemory), manager = UndoManager()
        let theirs = stack.insert("Person", ["name": "bob"])
        try stack.context.save()
        let context = stack.anew(), bob = context.own(theirs)
        context.undoManager = manager
        #expect(bob.text("name") == "bob")
        context.delete(bob)
        context.processPendingChanges()
        let heard = Heard([.NSManagedObjectContextDidSave], of: stack.context)
        stack.context.delete(theirs)
        try stack.context.save()
        context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        #expect(context.deletedObjects == [bob] && context.pending.changeCount == 0)
        manager.undo()
        #expect(context.insertedObjects == [bob] && context.deletedObjects.isEmpty && context.pending.changeCount == 1)
        try context.save()
        #expect(try stack.storedNames() == ["bob"])
    }

    @Test
    func `A controller reports one deletion`() throws {
        let stack = try TestStack(.inMemory)
        for name in ["ann", "bob"] { stack.insert("Person", ["name": name]) }
        try stack.context.save()
        let context = stack.anew(), controller = stack.controller(in: context), mirror = ListMirror()
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
        let heard = Heard([.NSManagedObjectContextDidSave], of: stack.context)
        stack.context.delete(try #require(try stack.fetch("Person", "name == 'bob'").first))
        try stack.context.save()
        context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        #expect(mirror.takeLog() == ["will", "delete ? 0.1 -", "did"])
        context.processPendingChanges()
        try context.save()
        #expect(mirror.takeLog() == [] && controller.shown == "ann" && mirror.problems == [])
    }

    /// Fetches of a context that has merged a deletion and changed nothing are answered as before.
    @Test
    func `A merged deletion makes no fetch more expensive`() throws {
        let merged = try merged(.recordLog)
        _ = try merged.stack.fetch("Person", "name == 'ann'", in: merged.context)
        #expect(merged.context.hasChanges && !merged.context.queries.lastQueryWasInMemory)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        request.resultType = .managedObjectIDResultType
        #expect(try merged.context.fetch(request) == [merged.ann.objectID] && !merged.context.queries.lastQueryWasInMemory)
    }

    @Test
    func `A context that never saves forgets unreferenced deleted objects`() throws {
        let stack = try TestStack(.inMemory), context = stack.anew()
        context.automaticallyMergesChangesFromParent = true
        let first = stack.insert("Person", ["name": "first"])
        try stack.context.save()
        let held = context.own(first)
        weak var unheld: NSManagedObject?
        for number in 0..<200 {
            let theirs = stack.insert("Person", ["name": "\(number)"])
            try stack.context.save()
            let mine = context.own(theirs)
            #expect(mine.text("name") == "\(number)")
            if number == 0 { unheld = mine }
            stack.context.delete(number == 1 ? first : theirs)
            try stack.context.save()
            if number != 1 { #expect(mine.isDeleted) }
        }
        #expect(context.pending.mergedDeletions.count <= 2 * NSManagedObjectContext.mergedDeletionsMin && context.deletedObjects.contains(held))
        #expect(unheld == nil && held.isDeleted)
    }

    @Test
    func `An object outlives its context`() throws {
        var bob: NSManagedObject?
        do {
            let stack = try TestStack(.inMemory), theirs = stack.insert("Person", ["name": "bob"])
            try stack.context.save()
            let context = stack.newContext()
            bob = context.own(theirs)
            #expect(bob?.text("name") == "bob")
            let heard = Heard([.NSManagedObjectContextDidSave], of: stack.context)
            stack.context.delete(theirs)
            try stack.context.save()
            context.mergeChanges(fromContextDidSave: try #require(heard.take()))
            #expect(bob?.managedObjectContext === context)
        }
        #expect(bob?.managedObjectContext == nil && bob?.value(forKey: "name") == nil && bob?.isDeleted == true)
    }

    /// A parent that has undone its deletion gets it once more from a context that has merged it.
    @Test(arguments: StoreKind.numbering)
    func `A child keeps its deletion of an object that its parent will write again`(kind: StoreKind) throws {
        let stack = try TestStack(kind), parent = stack.context, other = stack.anew()
        let bob = stack.insert("Person", ["name": "bob"])
        try parent.save()
        let theirs = other.own(bob)
        #expect(theirs.value(forKey: "name") as? String == "bob")
        parent.undoManager = UndoManager()
        parent.delete(bob)
        let heard = Heard([.NSManagedObjectContextDidSave], of: parent), told = Heard([.NSManagedObjectContextDidSave], of: other)
        try parent.save()
        other.mergeChanges(fromContextDidSave: try #require(heard.take()))
        parent.undo()
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        let his = try #require(try stack.fetch("Person", in: child).first)
        child.delete(his)
        try other.save()
        parent.mergeChanges(fromContextDidSave: try #require(told.take()))
        #expect(bob.isInserted && his.isDeleted && child.deletedObjects == [his])
        #expect(try stack.fetch("Person", in: child).isEmpty)
        try child.save()
        try parent.save()
        #expect(try stack.fetch("Person", in: stack.anew()).isEmpty)
    }
}
