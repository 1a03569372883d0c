import Foundation
import Testing

@testable import Heartwood

/// The effect of a child's save on its parent.
@Suite struct ChildSavingTests {
    @Test(arguments: StoreKind.allCases)
    func `A save goes one level up`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let old = stack.insert("Person", ["name": "old", "age": 1]), gone = stack.insert("Person", ["name": "gone"])
        try stack.context.save()
        let child = stack.context.child(), grandchild = child.child()
        let new = stack.insert("Person", ["name": "new"], into: grandchild)
        grandchild.own(old).setValue(2, forKey: "age")
        grandchild.delete(grandchild.own(gone))
        #expect(try stack.names(in: grandchild) == ["new", "old"] && stack.names(in: child) == ["gone", "old"])
        try grandchild.save()
        #expect(!grandchild.hasChanges && child.hasChanges && !stack.context.hasChanges)
        #expect(child.insertedObjects == [child.own(new)] && child.updatedObjects == [child.own(old)])
        #expect(child.deletedObjects == [child.own(gone)] && child.own(old).changedValues().keys.sorted() == ["age"])
        #expect(try stack.names(in: child) == ["new", "old"] && stack.names(in: stack.context) == ["gone", "old"])
        try child.save()
        #expect(!child.hasChanges && stack.context.hasChanges && old.value(forKey: "age") as? Int == 2)
        #expect(try stack.names(in: stack.context) == ["new", "old"] && stack.storedNames() == ["gone", "old"])
        #expect(new.objectID.isTemporaryID && !new.isInserted && new.text("name") == "new")
        try stack.context.save()
        #expect(try stack.storedNames() == ["new", "old"])
        for context in [child, grandchild] { #expect(try stack.names(in: context) == ["new", "old"] && !context.hasChanges) }
    }

    @Test(arguments: StoreKind.allCases)
    func `Only the child's object is notified of its insertion`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let child = stack.context.child(), grandchild = child.child()
        let new = stack.insert("Person", ["name": "new"], into: grandchild) as! Person
        try grandchild.save()
        try child.save()
        #expect(new.insertions == 1 && (child.own(new) as! Person).insertions == 0 && (stack.context.own(new) as! Person).insertions == 0)
        #expect(stack.context.own(new).isInserted && (stack.context.own(new) as! Person).fetches == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `Only changed properties are set`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann", "age": 1, "email": "a"])
        try stack.context.save()
        let first = stack.context.child(), second = stack.context.child()
        let mine = first.own(ann), theirs = second.own(ann)
        mine.setValue("first", forKey: "name")
        mine.setValue(1, forKey: "age")
        theirs.setValue("second", forKey: "name")
        theirs.setValue(5, forKey: "age")
        ann.setValue("e", forKey: "email")
        try second.save()
        try first.save()
        // The last save of each property wins.
        #expect(ann.text("name") == "first" && ann.value(forKey: "age") as? Int == 5 && ann.text("email") == "e")
        #expect(theirs.text("name") == "second", "a sibling shows what it has until it is refreshed")
        second.refresh(theirs, mergeChanges: true)
        #expect(theirs.text("name") == "first")
        try stack.context.save()
        #expect(try stack.storedNames() == ["first"])
    }

    @Test(arguments: StoreKind.allCases)
    func `Relationships of every kind are saved to the parent`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let oldGroup = stack.insert("Group", ["title": "old"]), oldTag = stack.insert("Tag", ["label": "old"])
        let ann = stack.insert("Person", ["name": "ann", "group": oldGroup, "tags": Set([oldTag])])
        let bob = stack.insert("Person", ["name": "bob", "partner": ann, "group": oldGroup])
        try stack.context.save()
        let child = stack.context.child(), grandchild = child.child()
        let newGroup = stack.insert("Group", ["title": "new"], into: grandchild)
        let newTag = stack.insert("Tag", ["label": "new"], into: grandchild)
        let cid = stack.insert("Person", ["name": "cid", "group": grandchild.own(oldGroup)], into: grandchild)
        let mine = grandchild.own(ann)
        mine.setValue(newGroup, forKey: "group")
        mine.setValue(Set([newTag]), forKey: "tags")
        mine.setValue(cid, forKey: "partner")
        cid.mutableSetValue(forKey: "tags").add(grandchild.own(oldTag))
        func check(_ context: NSManagedObjectContext, _ label: Comment) {
            let (ann, bob, cid) = (context.own(ann), context.own(bob), context.own(cid))
            let (old, new) = (context.own(oldGroup), context.own(newGroup))
            #expect(ann.one("group") === new && new.many("people") == [ann], label)
            #expect(old.many("people") == [bob, cid] && cid.one("group") === old, label)
            #expect(ann.one("partner") === cid && cid.one("partner") === ann && bob.one("partner") == nil, label)
            #expect(ann.many("tags") == [context.own(newTag)] && context.own(newTag).many("people") == [ann], label)
            #expect(cid.many("tags") == [context.own(oldTag)] && context.own(oldTag).many("people") == [cid], label)
        }
        check(grandchild, "before")
        try grandchild.save()
        check(child, "child")
        check(grandchild, "after")
        #expect(oldGroup.many("people") == [ann, bob])
        try child.save()
        check(stack.context, "root")
        try stack.context.save()
        for context in [stack.context, child, grandchild, stack.context.child()] { check(context, "saved") }
        for context in [child, grandchild] {
            context.refreshAllObjects()
            check(context, "refreshed")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Inverses in the parent follow the parent's state`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let groups = ["a", "b", "c"].map { stack.insert("Group", ["title": $0]) }
        let ann = stack.insert("Person", ["name": "ann", "group": groups[0]]), bob = stack.insert("Person", ["name": "bob"])
        let cid = stack.insert("Person", ["name": "cid"])
        try stack.context.save()
        let child = stack.context.child()
        child.own(ann).setValue(child.own(groups[1]), forKey: "group")
        child.own(ann).setValue(child.own(bob), forKey: "partner")
        ann.setValue(groups[2], forKey: "group")
        bob.setValue(cid, forKey: "partner")
        try child.save()
        #expect(ann.one("group") === groups[1] && groups[1].many("people") == [ann] && groups[2].many("people").isEmpty)
        #expect(ann.one("partner") === bob && bob.one("partner") === ann && cid.one("partner") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `Ordered members keep the child's order`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"])
        let tasks = ["1", "2", "3"].map { stack.insert("Task", ["title": $0]) }
        ann.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
        try stack.context.save()
        let child = stack.context.child(), grandchild = child.child()
        let mine = grandchild.own(ann)
        let four = stack.insert("Task", ["title": "4"], into: grandchild)
        mine.setValue(NSOrderedSet(array: [four, grandchild.own(tasks[2]), grandchild.own(tasks[0])]), forKey: "tasks")
        stack.insert("Task", ["title": "5", "owner": ann])
        #expect(ann.list("tasks") == ["1", "2", "3", "5"])
        try grandchild.save()
        #expect(child.own(ann).list("tasks") == ["4", "3", "1", "5"], "what the child did not know comes last")
        try child.save()
        #expect(ann.list("tasks") == ["4", "3", "1", "5"] && tasks[1].one("owner") == nil)
        try stack.context.save()
        let other = stack.newContext()
        #expect(other.own(ann).list("tasks") == ["4", "3", "1", "5"])
        grandchild.refreshAllObjects()
        child.refreshAllObjects()
        #expect(mine.list("tasks") == ["4", "3", "1", "5"])
    }

    @Test(arguments: StoreKind.allCases)
    func `Deletions cascade in the parent too`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"]), ann = stack.insert("Person", ["name": "ann", "group": group])
        let kept = stack.insert("Person", ["name": "kept"])
        let tasks = ["1", "2"].map { stack.insert("Task", ["title": $0, "owner": ann]) }
        try stack.context.save()
        let child = stack.context.child(), grandchild = child.child()
        grandchild.own(tasks[0]).setValue(grandchild.own(kept), forKey: "owner")
        grandchild.delete(grandchild.own(ann))
        stack.insert("Task", ["title": "late", "owner": child.own(ann)], into: child)
        try grandchild.save()
        #expect(child.own(group).many("people").isEmpty && child.own(tasks[1]).isDeleted && !child.own(tasks[0]).isDeleted)
        #expect(try stack.fetch("Task", in: child).map { $0.text("title") } == ["1"])
        try child.save()
        #expect(ann.isDeleted && tasks[1].isDeleted && tasks[0].one("owner") === kept && group.many("people").isEmpty)
        try stack.context.save()
        #expect(try stack.fetch("Task", in: stack.newContext()).count == 1 && stack.storedNames() == ["kept"])
        for context in [child, grandchild] { #expect(try stack.fetch("Task", in: context).count == 1) }
        // Objects without a row in any store are forgotten.
        let new = stack.insert("Person", ["name": "new"], into: child)
        try child.save()
        child.delete(new)
        try child.save()
        #expect(!stack.context.hasChanges && new.managedObjectContext == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `A failed save leaves both contexts as they were`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"])
        try stack.context.save()
        let child = stack.context.child()
        let group = stack.insert("Group", [:], into: child)
        child.own(ann).setValue("x", forKey: "name")
        let error = #expect(throws: (any Error).self) { try child.save() } as? NSError
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        #expect(child.hasChanges && group.isInserted && !stack.context.hasChanges && ann.text("name") == "ann")
        group.setValue("g", forKey: "title")
        try child.save()
        #expect(ann.text("name") == "x" && stack.context.insertedObjects.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `An update of an object that the parent has deleted goes to the merge policy`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let policies: [NSMergePolicy] = [.error, .mergeByPropertyStoreTrump, .rollback, .mergeByPropertyObjectTrump, .overwrite]
        for policy in policies {
            for isSaved in [false, true] {
                let ann = stack.insert("Person", ["name": "ann", "age": 3])
                try stack.context.save()
                let child = stack.context.child()
                child.mergePolicy = policy
                let mine = child.own(ann)
                mine.setValue("changed", forKey: "name")
                stack.context.delete(ann)
                if isSaved { try stack.context.save() }
                if policy.mergeType == .errorMergePolicyType {
                    let error = #expect(throws: (any Error).self) { try child.save() } as? NSError
                    #expect(error?.code == NSManagedObjectMergeError && child.hasChanges)
                    #expect((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first?.sourceObject === mine)
                } else {
                    try child.save()
                }
                try stack.context.save()
                let isBack = policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType || policy.mergeType == .overwriteMergePolicyType
                #expect(try stack.storedNames() == (isBack ? ["changed"] : []), "\(policy.mergeType) \(isSaved)")
                if isBack {
                    let back = stack.context.own(mine)
                    #expect(back.value(forKey: "age") as? Int == 3 && mine.text("name") == "changed")
                    stack.context.delete(back)
                    try stack.context.save()
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A child on one queue saves to a parent on another`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        root.persistentStoreCoordinator = stack.coordinator
        let child = root.child(.privateQueueConcurrencyType), grandchild = child.child(.privateQueueConcurrencyType)
        for round in 0..<3 {
            try grandchild.performAndWait {
                for index in 0..<20 { stack.insert("Person", ["name": "\(round)-\(index)"], into: grandchild) }
                try grandchild.save()
            }
            try child.performAndWait { try child.save() }
            try root.performAndWait { try root.save() }
        }
        try grandchild.performAndWait {
            let all = try stack.fetch("Person", in: grandchild)
            #expect(all.count == 60 && Set(all).count == 60 && all.allSatisfy { !$0.objectID.isTemporaryID })
        }
        #expect(try stack.storedNames().count == 60)
    }

    @Test(arguments: StoreKind.allCases)
    func `Siblings insert from several queues at once`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        root.persistentStoreCoordinator = stack.coordinator
        let children = (0..<4).map { _ in root.child(.privateQueueConcurrencyType) }
        let work = DispatchGroup()
        nonisolated(unsafe) let stackThere = stack
        for (number, child) in children.enumerated() {
            work.enter()
            child.perform {
                for round in 0..<10 {
                    for index in 0..<5 { stackThere.insert("Person", ["name": "\(number)-\(round)-\(index)"], into: child) }
                    try? child.save()
                    if round % 3 == number % 3 { try? root.performAndWait { try root.save() } }
                }
                work.leave()
            }
        }
        work.wait()
        try root.performAndWait { try root.save() }
        #expect(try Set(stack.storedNames()).count == 200)
        for child in children {
            let count = try child.performAndWait { try stackThere.fetch("Person", in: child).count }
            #expect(count == 200)
        }
    }

    /// The parent mistook it for an object whose row had gone, and no save of the parent could write it.
    @Test(arguments: StoreKind.allCases)
    func `An object that the parent rolled back unsaved is inserted again when the child wins`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ada"]), group = stack.insert("Group", ["title": "g"])
        let child = stack.context.child()
        child.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        child.own(person).setValue("Grace", forKey: "name")
        child.own(person).setValue(child.own(group), forKey: "group")
        child.own(group).setValue("h", forKey: "title")
        stack.context.rollback()
        try child.save()
        try stack.context.save()
        #expect(try stack.storedNames() == ["Grace"])
        let reader = stack.newContext()
        #expect(try stack.fetch("Person", in: reader).first?.one("group")?.text("title") == "h")
    }

    /// Objects that the parent had deleted with it once stayed among its members, and the parent could not be saved.
    @Test(arguments: StoreKind.allCases)
    func `An object that the parent restores for a child has only its remaining members`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make(stepRule: .cascadeDeleteRule))
        let node = stack.node("n"), friend = stack.node("f"), item = stack.make("Item", ["i"])[0]
        node.setValue(Set([friend]), forKey: "friends")
        node.setValue(NSOrderedSet(array: [item]), forKey: "items")
        try stack.context.save()
        node.setValue(NSOrderedSet(array: stack.make("Step", ["s"])), forKey: "steps")
        let child = stack.context.child()
        child.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        child.own(node).setValue("N", forKey: "name")
        stack.context.delete(node)
        try child.save()
        #expect(!node.isDeleted && node.names("steps") == [] && node.names("friends") == friend.names("friends"))
        try stack.context.save()
        let reader = stack.anew()
        let stored = try stack.named("N", in: reader)
        #expect(stored.names("steps") == [] && stored.names("friends") == [] && stored.names("items") == [])
        #expect(try stack.named("f", in: reader).names("friends") == [] && stack.named("i", "Item", in: reader).names("nodes") == [])
    }
}
