import Foundation
import Testing

@testable import Heartwood

/// Undo for both sides of every kind of relationship, and for deletions.
@Suite struct RelationshipUndoTests {
    /// Undoes and redoes the last group, and compares everything each time.
    private func turn(_ stack: TestStack, _ objects: [NSManagedObject], _ change: () throws -> Void) throws {
        func state() -> [[String: String]?] { objects.map { $0.managedObjectContext == nil || $0.isDeleted ? nil : $0.plain } }
        let before = state()
        try stack.group(change)
        let after = state()
        #expect(before != after)
        for _ in 0..<2 {
            stack.context.undo()
            #expect(state() == before)
            stack.context.redo()
            #expect(state() == after)
        }
        stack.context.undo()
    }

    /// The order was restored before the member, which then came last.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `Undo restores a member at its position`(kind: StoreKind, isFromOtherSide: Bool) throws {
        let stack = try TestStack.undoing(kind, model: GraphModel.make())
        let node = stack.insert("Node", ["name": "n"])
        let items = ["a", "b", "c"].map { stack.insert("Item", ["name": $0]) }
        stack.group { node.setValue(NSOrderedSet(array: items), forKey: "items") }
        try stack.saveAndForget()
        stack.group {
            let (owner, member, key) = isFromOtherSide ? (items[0], node, "nodes") : (node, items[0], "items")
            owner.mutableOrderedSetValue(forKey: key).remove(member)
        }
        #expect(node.members("items") == [items[1], items[2]])
        stack.context.undo()
        #expect(node.members("items") == items)
    }

    @Test(arguments: StoreKind.allCases)
    func `An undo that finds a reference back already can be redone, as one that finds a value back`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let a = stack.insert("Group", ["title": "a"]), b = stack.insert("Group", ["title": "b"])
        let x = stack.insert("Person", ["name": "x", "group": a])
        try stack.saveAndForget()
        for (key, old, new) in [("group", a, b), ("name", "x", "y")] as [(String, Any, Any)] {
            stack.manager.removeAllActions()
            stack.group { x.setValue(new, forKey: key) }
            stack.manager.disableUndoRegistration()
            x.setValue(old, forKey: key)
            stack.context.processPendingChanges()
            stack.manager.enableUndoRegistration()
            #expect(stack.manager.canUndo && !stack.manager.canRedo)
            stack.context.undo()
            #expect(stack.manager.canRedo, "\(key)")
        }
        #expect(x.value(forKey: "group") as? NSManagedObject === a && x.value(forKey: "name") as? String == "x")
    }

    @Test(arguments: StoreKind.allCases)
    func `Undo restores one-to-many relationships`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let a = stack.insert("Group", ["title": "a"]), b = stack.insert("Group", ["title": "b"])
        let x = stack.insert("Person", ["name": "x", "group": a]), y = stack.insert("Person", ["name": "y", "group": a])
        for isSaved in [false, true] {
            if isSaved { try stack.saveAndForget() }
            try turn(stack, [a, b, x, y]) { x.setValue(b, forKey: "group") }
            try turn(stack, [a, b, x, y]) { x.setValue(nil, forKey: "group") }
            try turn(stack, [a, b, x, y]) { b.setValue(NSSet(array: [x, y]), forKey: "people") }
            try turn(stack, [a, b, x, y]) { a.mutableSetValue(forKey: "people").removeAllObjects() }
            try turn(stack, [a, b, x, y]) { stack.context.delete(a) }
            try turn(stack, [a, b, x, y]) {
                x.setValue(b, forKey: "group")
                stack.context.delete(x)
            }
            try turn(stack, [a, b, x, y]) {
                stack.context.delete(x)
                stack.context.delete(a)
                b.mutableSetValue(forKey: "people").add(y)
            }
        }
        #expect(a.members("people").count == 2 && b.members("people").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `Undo restores many-to-many relationships`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let s = stack.insert("Tag", ["label": "s"]), t = stack.insert("Tag", ["label": "t"])
        let x = stack.insert("Person", ["name": "x", "tags": NSSet(object: s)])
        let y = stack.insert("Person", ["name": "y", "tags": NSSet(array: [s, t])])
        for isSaved in [false, true] {
            if isSaved { try stack.saveAndForget() }
            try turn(stack, [s, t, x, y]) { x.mutableSetValue(forKey: "tags").add(t) }
            try turn(stack, [s, t, x, y]) { s.mutableSetValue(forKey: "people").remove(y) }
            try turn(stack, [s, t, x, y]) { t.setValue(NSSet(object: x), forKey: "people") }
            try turn(stack, [s, t, x, y]) { stack.context.delete(s) }
            try turn(stack, [s, t, x, y]) {
                stack.context.delete(y)
                stack.context.delete(s)
            }
            // Adding and removing an existing member leaves no trace.
            if isSaved { stack.context.refreshAllObjects() }
            stack.group { x.mutableSetValue(forKey: "tags").add(s) }
            x.setValue(9, forKey: "age")
            stack.context.undo()
            #expect(x.members("tags") == [s])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Undo restores one-to-one relationships`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let a = stack.insert("Person", ["name": "a"]), b = stack.insert("Person", ["name": "b", "partner": a])
        let c = stack.insert("Person", ["name": "c"]), d = stack.insert("Person", ["name": "d", "partner": c])
        for isSaved in [false, true] {
            if isSaved { try stack.saveAndForget() }
            try turn(stack, [a, b, c, d]) { a.setValue(c, forKey: "partner") }
            try turn(stack, [a, b, c, d]) { a.setValue(nil, forKey: "partner") }
            try turn(stack, [a, b, c, d]) { stack.context.delete(a) }
            try turn(stack, [a, b, c, d]) {
                a.setValue(d, forKey: "partner")
                stack.context.delete(d)
                b.setValue(c, forKey: "partner")
            }
            try turn(stack, [a, b, c, d]) { a.setValue(a, forKey: "partner") }
        }
        #expect(a.value(forKey: "partner") as? NSManagedObject === b)
    }

    @Test(arguments: StoreKind.allCases)
    func `Undo restores ordered members`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let tasks = (0..<4).map { stack.insert("Task", ["title": "\($0)"]) }
        let x = stack.insert("Person", ["name": "x", "tasks": NSOrderedSet(array: Array(tasks[0..<3]))])
        let y = stack.insert("Person", ["name": "y"])
        for isSaved in [false, true] {
            if isSaved { try stack.saveAndForget() }
            let all = tasks + [x, y]
            try turn(stack, all) { x.setValue(NSOrderedSet(array: [tasks[2], tasks[0], tasks[1]]), forKey: "tasks") }
            try turn(stack, all) { tasks[1].setValue(nil, forKey: "owner") }
            try turn(stack, all) { tasks[0].setValue(y, forKey: "owner") }
            try turn(stack, all) { x.setValue(NSOrderedSet(array: [tasks[3], tasks[1]]), forKey: "tasks") }
            try turn(stack, all) { stack.context.delete(tasks[1]) }
            try turn(stack, all) {
                tasks[1].setValue(nil, forKey: "owner")
                x.setValue(NSOrderedSet(array: [tasks[1], tasks[2], tasks[0]]), forKey: "tasks")
            }
        }
        #expect(x.members("tasks") == Array(tasks[0..<3]))
    }

    @Test(arguments: StoreKind.allCases)
    func `Undo restores the objects of a cascade`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "t"])
        let x = stack.insert("Person", ["name": "x", "group": group, "tags": NSSet(object: tag)])
        let tasks = (0..<3).map { stack.insert("Task", ["title": "\($0)"]) }
        x.setValue(NSOrderedSet(array: [tasks[2], tasks[0], tasks[1]]), forKey: "tasks")
        for isSaved in [false, true] {
            if isSaved { try stack.saveAndForget() }
            try turn(stack, tasks + [x, group, tag]) { stack.context.delete(x) }
            try turn(stack, tasks + [x, group, tag]) {
                stack.context.delete(tasks[0])
                stack.context.delete(x)
                stack.context.delete(group)
            }
        }
        #expect(x.members("tasks") == [tasks[2], tasks[0], tasks[1]])
    }

    @Test(arguments: StoreKind.planning)
    func `Joining a large group reads none of its members`(kind: StoreKind) throws {
        let stack = try TestStack.undoing(kind)
        let group = stack.insert("Group", ["title": "g"])
        for _ in 0..<50 { stack.insert("Person", ["group": group]) }
        let person = stack.insert("Person", ["name": "x"])
        try stack.saveAndForget()
        let reads = stack.rowReads
        stack.group { person.setValue(group, forKey: "group") }
        stack.context.undo()
        #expect(group.hasFault(forRelationshipNamed: "people") && stack.rowReads - reads <= 2)
        #expect(group.members("people").count == 50)
    }

    @Test(arguments: StoreKind.allCases)
    func `Undo restores objects whose rules do not change destinations`(kind: StoreKind) throws {
        let owner = NSEntityDescription(), thing = NSEntityDescription()
        owner.name = "Owner"
        thing.name = "Thing"
        let things = TestStack.relationship("things", to: thing, toMany: true, rule: .noActionDeleteRule)
        let owners = TestStack.relationship("owners", to: owner, toMany: true, rule: .noActionDeleteRule)
        let best = TestStack.relationship("best", to: thing, toMany: false, rule: .noActionDeleteRule)
        TestStack.connect(things, owners)
        owner.properties = [things, best]
        thing.properties = [TestStack.attribute("name", .stringAttributeType), owners]
        let model = NSManagedObjectModel()
        model.entities = [owner, thing]
        let stack = try TestStack.undoing(kind, model: model)
        let a = stack.insert("Thing", ["name": "a"]), b = stack.insert("Thing", ["name": "b"])
        let o = stack.insert("Owner", ["things": NSSet(array: [a, b]), "best": b])
        try stack.saveAndForget()
        let before = try stack.stored()
        stack.manager.removeAllActions()
        stack.group { stack.context.delete(o) }
        stack.group { stack.context.delete(b) }
        try stack.saveAndForget()
        stack.context.undo()
        stack.context.undo()
        #expect(Set(o.members("things")) == [a, b] && o.value(forKey: "best") as? NSManagedObject === b)
        try stack.saveAndForget()
        #expect(try stack.stored() == before)
        // Objects that refer to each other without an inverse are restored together as well.
        stack.group {
            stack.context.delete(b)
            stack.context.delete(o)
        }
        try stack.context.save()
        stack.context.undo()
        #expect(o.value(forKey: "best") as? NSManagedObject === b)
        try stack.saveAndForget()
        #expect(try stack.stored() == before)
    }
}
