import Foundation
import Testing

@testable import Heartwood

/// Undo in contexts that save to a parent and not to a store.
@Suite struct ChildUndoTests {
    private func undoing(_ context: NSManagedObjectContext) -> UndoManager {
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        return manager
    }

    @discardableResult
    private func group<T>(_ manager: UndoManager, _ body: () throws -> T) rethrows -> T {
        manager.beginUndoGrouping()
        defer { manager.endUndoGrouping() }
        return try body()
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `A deletion that a parent has can be undone`(kind: StoreKind, isParentSaved: Bool) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann", "age": 7]), group = stack.insert("Group", ["title": "g"])
        ann.setValue(group, forKey: "group")
        try stack.context.save()
        let child = stack.context.child(), manager = undoing(child)
        let mine = child.own(ann)
        self.group(manager) { child.delete(mine) }
        try child.save()
        #expect(ann.isDeleted)
        if isParentSaved { try stack.context.save() }
        child.undo()
        #expect(mine.value(forKey: "name") as? String == "ann" && mine.value(forKey: "group") as? NSManagedObject === child.own(group))
        try child.save()
        try stack.context.save()
        #expect(try stack.stored(from: "Person") == ["ann"])
        #expect(mine.objectID == ann.objectID)
        let back = try #require(try stack.fetch("Person", in: stack.anew()).first)
        #expect(back.value(forKey: "age") as? Int == 7 && (back.value(forKey: "group") as? NSManagedObject)?.objectID == group.objectID)
    }

    /// The parent's save wrote the members of a restored object without their owner: they were lost, and the pairs were not.
    @Test(arguments: StoreKind.allCases)
    func `An object restored in a parent has its members again`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"]), task = stack.insert("Task", ["title": "t"]), tag = stack.insert("Tag", [:])
        ann.mutableSetValue(forKey: "tags").add(tag)
        ann.setValue(NSOrderedSet(object: task), forKey: "tasks")
        try stack.context.save()
        let child = stack.context.child(), manager = undoing(child)
        self.group(manager) { child.delete(child.own(ann)) }
        try child.save()
        try stack.context.save()
        child.undo()
        try child.save()
        try stack.context.save()
        let back = try #require(try stack.fetch("Person", in: stack.anew()).first)
        #expect(back.members("tags").map(\.objectID) == [tag.objectID] && back.list("tasks") == ["t"])
        let people = try #require(try stack.fetch("Tag", in: stack.anew()).first).members("people")
        #expect(people.map { $0.objectID } == [ann.objectID])
    }

    /// The parent mistook a restored object for a new one, forgot it at the next deletion, and so left its row in the store.
    @Test(arguments: StoreKind.allCases)
    func `A restored object can be deleted again`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"]), tag = stack.insert("Tag", [:])
        ann.mutableSetValue(forKey: "tags").add(tag)
        try stack.context.save()
        let child = stack.context.child(), manager = undoing(child)
        self.group(manager) { child.delete(child.own(ann)) }
        try child.save()
        child.undo()
        try child.save()
        #expect(stack.context.insertedObjects.isEmpty && stack.context.updatedObjects.contains(ann))
        #expect(tag.members("people") == [ann] && ann.members("tags") == [tag])
        child.redo()
        try child.save()
        #expect(try stack.names().isEmpty && stack.context.deletedObjects == [ann])
        try stack.context.save()
        #expect(try stack.stored(from: "Person").isEmpty)
    }

    /// A child that follows its parent merged the deletion that it had requested itself, and lost the object that it had restored since.
    @Test(arguments: StoreKind.allCases)
    func `A restored object stays when the parent saves its deletion`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"])
        try stack.context.save()
        let child = stack.context.child(), manager = undoing(child)
        child.automaticallyMergesChangesFromParent = true
        self.group(manager) { child.delete(child.own(ann)) }
        try child.save()
        child.undo()
        try stack.context.save()
        #expect(try stack.names(in: child) == ["ann"] && stack.names().isEmpty)
        try child.save()
        try stack.context.save()
        #expect(try stack.stored(from: "Person") == ["ann"])
    }

    /// An insertion that was saved to the store stays if the child undid and redid it: the parent's rollback drops only the rest.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `A parent's rollback keeps a saved insertion that was redone`(kind: StoreKind, isDeletionPushed: Bool) throws {
        let stack = try TestStack(kind)
        let child = stack.context.child(), manager = undoing(child)
        let mine = self.group(manager) { stack.insert("Person", ["name": "new"], into: child) }
        try child.save()
        try stack.context.save()
        let new = stack.context.own(mine)
        child.undo()
        if isDeletionPushed { try child.save() }
        child.redo()
        mine.setValue("other", forKey: "name")
        try child.save()
        #expect(mine.objectID == new.objectID && !mine.isDeleted)
        #expect(stack.context.insertedObjects.isEmpty && !new.isDeleted && new.value(forKey: "name") as? String == "other")
        stack.context.rollback()
        #expect(new.managedObjectContext === stack.context && new.value(forKey: "name") as? String == "new")
        #expect(try stack.names() == ["new"] && stack.stored(from: "Person") == ["new"])
        child.refreshAllObjects()
        #expect(try stack.names(in: child) == ["new"])
        // This once trapped: it was to be written again with all of its values, and it has none.
        new.willChangeValue(forKey: "name")
        try stack.context.save()
        #expect(try stack.stored(from: "Person") == ["new"])
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `An insertion that a parent has can be undone and redone`(kind: StoreKind, isParentSaved: Bool) throws {
        let stack = try TestStack(kind)
        let child = stack.context.child(), manager = undoing(child)
        self.group(manager) { stack.insert("Person", ["name": "new"], into: child) }
        try child.save()
        if isParentSaved { try stack.context.save() }
        child.undo()
        try child.save()
        #expect(try stack.names().isEmpty)
        child.redo()
        try child.save()
        #expect(try stack.names() == ["new"])
        try stack.context.save()
        #expect(try stack.stored(from: "Person") == ["new"])
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that only the parent has is restored`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let child = stack.context.child(), manager = undoing(child)
        let new = stack.insert("Person", ["name": "new", "age": 3], into: child)
        try child.save()
        manager.removeAllActions()
        group(manager) { new.setValue("other", forKey: "name") }
        try child.save()
        child.undo()
        #expect(new.value(forKey: "name") as? String == "new" && new.value(forKey: "age") as? Int == 3)
        try child.save()
        #expect(try stack.names() == ["new"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A parent undoes a child's save`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"])
        try stack.context.save()
        let manager = undoing(stack.context), child = stack.context.child()
        child.own(ann).setValue("bea", forKey: "name")
        stack.insert("Person", ["name": "new"], into: child)
        try group(manager) { try child.save() }
        #expect(try stack.names() == ["bea", "new"])
        stack.context.undo()
        #expect(try stack.names() == ["ann"])
        stack.context.redo()
        #expect(try stack.names() == ["bea", "new"])
    }
}

extension TestStack {
    /// The names in the store.
    fileprivate func stored(from entity: String) throws -> [String] {
        try withExtendedLifetime(newContext()) { context in
            try fetch(entity, in: context).map { $0.value(forKey: "name") as? String ?? "-" }.sorted()
        }
    }
}
