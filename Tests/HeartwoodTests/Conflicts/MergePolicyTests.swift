import Foundation
import Testing

@testable import Heartwood

/// Two contexts over one coordinator: one is behind the other when it saves.
@Suite struct MergePolicyTests {
    /// A person whom `mine` has read as (Ada, 1, a@x) and the store now has as (Grace, 1, a@x).
    private struct Conflict {
        let stack: TestStack
        let mine: NSManagedObject
        var context: NSManagedObjectContext { stack.context }

        init(_ kind: StoreKind, _ policy: NSMergePolicy, theirs: (NSManagedObject, NSManagedObjectContext) -> Void = { object, _ in
            object.setValue("Grace", forKey: "name")
        }) throws {
            stack = try TestStack(kind)
            mine = stack.insert("Person", ["name": "Ada", "email": "a@x"])
            try stack.context.save()
            stack.context.mergePolicy = policy
            #expect(mine.value(forKey: "name") as? String == "Ada")
            let other = stack.newContext()
            theirs(try other.existingObject(with: mine.objectID), other)
            try other.save()
        }

        /// Checks the object's values and the store's.
        func expect(name: String?, age: Int?, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let other = stack.newContext()
            let stored = try other.existingObject(with: mine.objectID)
            for object in [mine, stored] {
                #expect(object.value(forKey: "name") as? String == name, sourceLocation: sourceLocation)
                #expect(object.value(forKey: "age") as? Int == age, sourceLocation: sourceLocation)
            }
            #expect(!context.hasChanges, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `The error names each conflict with its snapshots`(kind: StoreKind) throws {
        let conflict = try Conflict(kind, .error)
        conflict.mine.setValue("Edsger", forKey: "name")
        let error = #expect(throws: NSError.self) { try conflict.context.save() }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSManagedObjectMergeError)
        let list = try #require(error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
        #expect(list.count == 1)
        let found = try #require(list.first)
        #expect(found.sourceObject === conflict.mine)
        #expect(found.objectSnapshot?["name"] as? String == "Ada")
        #expect(found.cachedSnapshot?["name"] as? String == "Grace")
        #expect(found.cachedSnapshot?["group"] is NSNull)
        #expect(found.persistedSnapshot == nil, "the coordinator knew it")
        #expect(found.oldVersionNumber == 1 && found.newVersionNumber == 2)
        #expect(conflict.mine.value(forKey: "name") as? String == "Edsger" && conflict.context.hasChanges)
        conflict.context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        try conflict.context.save()
        try conflict.expect(name: "Edsger", age: 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `By property, only properties that both changed are decided`(kind: StoreKind) throws {
        for (policy, name) in [(NSMergePolicy.mergeByPropertyStoreTrump, "Grace"), (.mergeByPropertyObjectTrump, "Edsger")] {
            let conflict = try Conflict(kind, policy)
            conflict.mine.setValue("Edsger", forKey: "name")
            conflict.mine.setValue(7, forKey: "age")
            try conflict.context.save()
            try conflict.expect(name: name, age: 7)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A property set to its old value is no change`(kind: StoreKind) throws {
        let conflict = try Conflict(kind, .mergeByPropertyObjectTrump)
        conflict.mine.setValue("Ada", forKey: "name")
        conflict.mine.setValue(7, forKey: "age")
        try conflict.context.save()
        try conflict.expect(name: "Grace", age: 7)
    }

    @Test(arguments: StoreKind.allCases)
    func `Overwriting writes the whole object and rolling back drops it`(kind: StoreKind) throws {
        let over = try Conflict(kind, .overwrite)
        over.mine.setValue(7, forKey: "age")
        try over.context.save()
        try over.expect(name: "Ada", age: 7)
        let back = try Conflict(kind, .rollback)
        back.mine.setValue(7, forKey: "age")
        back.mine.setValue("Edsger", forKey: "name")
        try back.context.save()
        try back.expect(name: "Grace", age: 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `A row deleted in another context is a conflict`(kind: StoreKind) throws {
        func conflict(_ policy: NSMergePolicy) throws -> Conflict {
            let conflict = try Conflict(kind, policy) { object, context in context.delete(object) }
            conflict.mine.setValue(7, forKey: "age")
            return conflict
        }
        let refused = try conflict(.error)
        let error = #expect(throws: NSError.self) { try refused.context.save() }
        let found = try #require((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
        #expect(found.newVersionNumber == 0 && found.cachedSnapshot == nil && found.objectSnapshot?["name"] as? String == "Ada")
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .rollback] {
            let gone = try conflict(policy)
            try gone.context.save()
            #expect(gone.mine.isDeleted && gone.mine.managedObjectContext == nil)
            #expect(try gone.stack.fetch("Person").isEmpty)
        }
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            let back = try conflict(policy)
            let id = back.mine.objectID
            try back.context.save()
            try back.expect(name: "Ada", age: 7)
            #expect(back.mine.objectID == id)
            back.mine.setValue(8, forKey: "age")
            try back.context.save()
            try back.expect(name: "Ada", age: 8)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A deletion of a row that others changed is a conflict`(kind: StoreKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .rollback] {
            let kept = try Conflict(kind, policy)
            kept.context.delete(kept.mine)
            try kept.context.save()
            #expect(!kept.mine.isDeleted)
            try kept.expect(name: "Grace", age: 1)
        }
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            let gone = try Conflict(kind, policy)
            gone.context.delete(gone.mine)
            try gone.context.save()
            #expect(try gone.stack.fetch("Person").isEmpty)
        }
        let refused = try Conflict(kind, .error)
        refused.context.delete(refused.mine)
        #expect(throws: NSError.self) { try refused.context.save() }
    }

    /// An object that was saved and not read again once had no version to compare, so the next save of its context overwrote other saves in
    /// between.
    @Test(arguments: StoreKind.allCases)
    func `The next save compares with the version that was saved`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let mine = stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        for name in ["Grace", "Edsger"] {
            let other = stack.newContext()
            try other.existingObject(with: mine.objectID).setValue(name, forKey: "name")
            try other.save()
            mine.setValue(3, forKey: "age")
            #expect(throws: NSError.self) { try stack.context.save() }
            #expect(mine.value(forKey: "name") as? String == (name == "Grace" ? "Ada" : "Grace"), "as this context has it")
            stack.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try stack.context.save()
            stack.context.mergePolicy = NSMergePolicy.error
        }
        #expect(mine.value(forKey: "name") as? String == "Edsger" && mine.value(forKey: "age") as? Int == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func `To-many changes merge member by member`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ada = stack.insert("Person", ["name": "Ada"])
        let tags = ["a", "b", "c", "d"].map { stack.insert("Tag", ["label": $0]) }
        let tasks = ["1", "2", "3", "4"].map { stack.insert("Task", ["title": $0]) }
        ada.setValue(Set([tags[0]]), forKey: "tags")
        ada.setValue(NSOrderedSet(array: [tasks[0], tasks[1]]), forKey: "tasks")
        try stack.context.save()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        #expect((ada.value(forKey: "tags") as? NSSet)?.count == 1 && (ada.value(forKey: "tasks") as? NSOrderedSet)?.count == 2)
        let other = stack.newContext()
        let theirs = try other.existingObject(with: ada.objectID)
        theirs.setValue("Grace", forKey: "name")
        theirs.setValue(NSSet(array: [1, 2].map { other.object(with: tags[$0].objectID) }), forKey: "tags")
        theirs.setValue(NSOrderedSet(array: [1, 2].map { other.object(with: tasks[$0].objectID) }), forKey: "tasks")
        try other.save()
        for tag in [tags[2], tags[3]] { ada.mutableSetValue(forKey: "tags").add(tag) }
        ada.setValue(NSOrderedSet(array: [tasks[3], tasks[1], tasks[0]]), forKey: "tasks")
        ada.setValue(5, forKey: "age")
        try stack.context.save()
        func check(_ person: NSManagedObject) {
            let labels = (person.value(forKeyPath: "tags.label") as? NSSet)?.allObjects as? [String]
            #expect(labels?.sorted() == ["b", "c", "d"], "one removed, two added there, two here, one of them the same")
            let titles = (person.value(forKeyPath: "tasks.title") as? NSOrderedSet)?.array as? [String]
            #expect(titles == ["4", "2", "3"])
            #expect(person.value(forKey: "name") as? String == "Grace" && person.value(forKey: "age") as? Int == 5)
        }
        check(ada)
        let third = stack.newContext()
        check(try third.existingObject(with: ada.objectID))
    }

    @Test(arguments: StoreKind.allCases)
    func `A program's own policy decides`(kind: StoreKind) throws {
        final class Longest: NSMergePolicy {
            var seen = 0
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                for conflict in list {
                    seen += 1
                    let newest = (conflict.persistedSnapshot ?? conflict.cachedSnapshot)?["name"] as? String ?? ""
                    let ours = conflict.sourceObject.value(forKey: "name") as? String ?? ""
                    conflict.sourceObject.setValue(ours.count > newest.count ? ours : newest, forKey: "name")
                }
                try super.resolve(optimisticLockingConflicts: list)
            }
        }
        for (ours, expected) in [("Edsger", "Edsger"), ("Al", "Grace")] {
            let policy = Longest(merge: .mergeByPropertyObjectTrumpMergePolicyType)
            let conflict = try Conflict(kind, policy)
            conflict.mine.setValue(ours, forKey: "name")
            try conflict.context.save()
            #expect(policy.seen == 1)
            try conflict.expect(name: expected, age: 1)
        }
        final class Idle: NSMergePolicy {
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {}
        }
        let idle = try Conflict(kind, Idle(merge: .overwriteMergePolicyType))
        idle.mine.setValue("Edsger", forKey: "name")
        let error = #expect(throws: NSError.self) { try idle.context.save() }
        #expect(error?.code == NSManagedObjectMergeError, "a policy that resolves nothing is not asked forever")
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that was only read is checked on request`(kind: StoreKind) throws {
        let conflict = try Conflict(kind, .error)
        let bystander = conflict.stack.insert("Tag", ["label": "x"])
        conflict.context.detectConflicts(for: conflict.mine)
        #expect(throws: NSError.self) { try conflict.context.save() }
        #expect(bystander.isInserted)
        conflict.context.refresh(conflict.mine, mergeChanges: false)
        try conflict.context.save()
        #expect(!bystander.isInserted)
    }

    @Test(arguments: StoreKind.allCases)
    func `A one-to-one relationship stays consistent when the store wins`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let people = ["a", "b", "c"].map { stack.insert("Person", ["name": $0]) }
        try stack.context.save()
        for person in people { #expect(person.value(forKey: "partner") == nil) }
        let other = stack.newContext()
        try other.existingObject(with: people[0].objectID).setValue(other.object(with: people[1].objectID), forKey: "partner")
        try other.save()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        people[0].setValue(people[2], forKey: "partner")
        try stack.context.save()
        #expect(people[0].value(forKey: "partner") as? NSManagedObject === people[1])
        stack.context.refreshAllObjects()
        #expect(people[1].value(forKey: "partner") as? NSManagedObject === people[0])
        #expect(people[2].value(forKey: "partner") == nil)
    }
}
