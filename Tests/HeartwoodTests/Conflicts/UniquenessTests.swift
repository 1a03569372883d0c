import Foundation
import Testing

@testable import Heartwood

@Suite struct UniquenessTests {
    /// A store with one person of group "Old", and an inserted person with the same email.
    private func upsert(
        _ kind: StoreKind, _ policy: NSMergePolicy
    ) throws -> (stack: TestStack, old: NSManagedObject, new: NSManagedObject) {
        let stack = try TestStack(kind)
        let old = stack.insert("Person", ["name": "Ada", "email": "a@x", "age": 5])
        old.setValue(stack.insert("Group", ["title": "Old"]), forKey: "group")
        old.setValue(Set([stack.insert("Tag", ["label": "kept"])]), forKey: "tags")
        try stack.context.save()
        stack.context.mergePolicy = policy
        let new = stack.insert("Person", ["name": "Grace", "email": "a@x"])
        new.setValue(stack.insert("Group", ["title": "New"]), forKey: "group")
        new.setValue(Set([stack.insert("Tag", ["label": "added"])]), forKey: "tags")
        stack.insert("Task", ["title": "t", "owner": new])
        return (stack, old, new)
    }

    @Test(arguments: StoreKind.allCases)
    func `The error names the constraint and both sides`(kind: StoreKind) throws {
        let (stack, old, new) = try upsert(kind, .error)
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        let list = try #require(error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
        let found = try #require(list.first)
        #expect(list.count == 1 && found.constraint == ["email"] && found.constraintValues["email"] as? String == "a@x")
        #expect(found.databaseObject === old && found.databaseSnapshot?["name"] as? String == "Ada")
        #expect(found.databaseSnapshot?["group"] as? NSManagedObjectID == (old.value(forKey: "group") as? NSManagedObject)?.objectID)
        #expect(found.conflictingObjects == [new] && found.conflictingSnapshots.count == 1)
        #expect(new.isInserted && stack.context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `An insertion becomes an update of the row that has the value`(kind: StoreKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump, .rollback] {
            let (stack, old, new) = try upsert(kind, policy)
            let isOurs = policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType || policy.mergeType == .overwriteMergePolicyType
            try stack.context.save()
            #expect(new.managedObjectContext == nil && new.value(forKey: "name") as? String == "Grace", "gone, and readable")
            #expect(stack.context.registeredObject(for: old.objectID) === old)
            for context in [stack.context, stack.newContext()] {
                let people = try stack.fetch("Person", in: context)
                let person = try #require(people.first)
                #expect(people.count == 1 && person.objectID == old.objectID)
                #expect(person.value(forKey: "name") as? String == (isOurs ? "Grace" : "Ada"))
                #expect(person.value(forKey: "age") as? Int == (isOurs ? 1 : 5), "unset attributes are replaced too")
                #expect(person.value(forKeyPath: "group.title") as? String == (isOurs ? "New" : "Old"))
                let labels = (person.value(forKeyPath: "tags.label") as? NSSet)?.allObjects as? [String]
                #expect(labels?.sorted() == ["added", "kept"])
                let task = try #require(try stack.fetch("Task", in: context).first)
                #expect((task.value(forKey: "owner") as? NSManagedObject)?.objectID == old.objectID)
                let groups = try stack.fetch("Group", "title == 'New'", in: context)
                #expect((groups.first?.value(forKey: "people") as? NSSet)?.count == (isOurs ? 1 : 0))
            }
            #expect(!stack.context.hasChanges)
        }
    }

    /// The row's object in this context is older than the row.
    @Test(arguments: StoreKind.allCases)
    func `An insertion replaces the current row`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let old = stack.insert("Person", ["name": "Ada", "email": "a@x"])
        try stack.context.save()
        #expect(old.value(forKey: "name") as? String == "Ada")
        let other = stack.newContext()
        other.object(with: old.objectID).setValue("Grace", forKey: "name")
        try other.save()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        stack.insert("Person", ["name": "Ada", "email": "a@x"])
        try stack.context.save()
        #expect(old.value(forKey: "name") as? String == "Ada")
        #expect(try stack.fetch("Person", "name == 'Ada'", in: stack.newContext()).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `Equal insertions of one save become one`(kind: StoreKind) throws {
        for (policy, name) in [(NSMergePolicy.mergeByPropertyObjectTrump, "third"), (.mergeByPropertyStoreTrump, "first")] {
            let stack = try TestStack(kind)
            let people = ["first", "second", "third"].map { stack.insert("Person", ["name": $0, "email": "a@x"]) }
            for person in people { stack.insert("Task", ["title": "t", "owner": person]) }
            let error = #expect(throws: NSError.self) { try stack.context.save() }
            let found = try #require((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first)
            #expect(found.databaseObject == nil && found.conflictingObjects.count == 3)
            stack.context.mergePolicy = policy
            try stack.context.save()
            let left = try stack.fetch("Person")
            #expect(left.count == 1 && left.first?.value(forKey: "name") as? String == name)
            #expect((left.first?.value(forKey: "tasks") as? NSOrderedSet)?.count == 3)
            #expect(try stack.fetch("Task", "owner == nil").isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Two rows that get one value become one or stay apart`(kind: StoreKind) throws {
        func clash(_ policy: NSMergePolicy) throws -> (TestStack, NSManagedObject, NSManagedObject) {
            let stack = try TestStack(kind)
            let a = stack.insert("Person", ["name": "a", "email": "a@x"]), b = stack.insert("Person", ["name": "b", "email": "b@x"])
            try stack.context.save()
            stack.context.mergePolicy = policy
            b.setValue("a@x", forKey: "email")
            b.setValue(9, forKey: "age")
            try stack.context.save()
            return (stack, a, b)
        }
        let (ours, a, b) = try clash(.mergeByPropertyObjectTrump)
        #expect(try ours.names() == ["b"] && a.managedObjectContext == nil)
        #expect(b.value(forKey: "email") as? String == "a@x")
        let (theirs, _, kept) = try clash(.mergeByPropertyStoreTrump)
        #expect(try theirs.names() == ["a", "b"])
        #expect(kept.value(forKey: "email") as? String == "b@x" && kept.value(forKey: "age") as? Int == 9)
        let (both, _, back) = try clash(.rollback)
        #expect(try both.names() == ["a", "b"])
        #expect(back.value(forKey: "email") as? String == "b@x" && back.value(forKey: "age") as? Int == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `Values may be exchanged within a save`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let a = stack.insert("Person", ["name": "a", "email": "a@x"]), b = stack.insert("Person", ["name": "b", "email": "b@x"])
        try stack.context.save()
        a.setValue("b@x", forKey: "email")
        b.setValue("a@x", forKey: "email")
        try stack.context.save()
        stack.context.delete(a)
        stack.insert("Person", ["name": "c", "email": "b@x"])
        try stack.context.save()
        #expect(try stack.names() == ["b", "c"])
    }

    /// A row was once left out of the check if the save changed only members of its to-many relationships, and so did not write it: its unique
    /// value could be taken again.
    @Test(arguments: StoreKind.allCases)
    func `A row of which only members change keeps its unique value`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let old = stack.insert("Person", ["name": "Ada", "email": "a@x"])
        try stack.context.save()
        old.mutableSetValue(forKey: "tags").add(stack.insert("Tag", ["label": "x"]))
        stack.insert("Person", ["name": "Grace", "email": "a@x"])
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
    }

    @Test(arguments: StoreKind.allCases)
    func `Several attributes are unique together`(kind: StoreKind) throws {
        let seat = NSEntityDescription()
        seat.name = "Seat"
        seat.properties = [
            TestStack.attribute("row", .integer32AttributeType), TestStack.attribute("number", .integer32AttributeType),
            TestStack.attribute("guest", .stringAttributeType),
        ]
        seat.uniquenessConstraints = [["row", "number"]]
        let model = NSManagedObjectModel()
        model.entities = [seat]
        let stack = try TestStack(kind, model: model)
        stack.insert("Seat", ["row": 1, "number": 1, "guest": "a"])
        stack.insert("Seat", ["row": 1, "number": 2, "guest": "b"])
        try stack.context.save()
        stack.insert("Seat", ["row": 1, "number": 2, "guest": "c"])
        stack.insert("Seat", ["row": 2, "number": 2, "guest": "d"])
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(list?.count == 1 && list?.first?.constraint == ["row", "number"])
        #expect(list?.first?.constraintValues["number"] as? Int == 2)
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try stack.context.save()
        #expect(try stack.fetch("Seat").compactMap { $0.value(forKey: "guest") as? String }.sorted() == ["a", "c", "d"])
    }

    /// Each entity of a family has a table of its own, and the constraint was once checked within each table only.
    @Test(arguments: StoreKind.allCases)
    func `A value is unique among subentities too`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ada", "email": "a@x"])
        try stack.context.save()
        stack.insert("Employee", ["name": "Grace", "email": "a@x"])
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(list?.first?.databaseObject === person)
        stack.context.rollback()
        stack.insert("Person", ["email": "b@x"])
        stack.insert("Employee", ["email": "b@x"])
        #expect(throws: NSError.self) { try stack.context.save() }
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try stack.context.save()
        #expect(try stack.fetch("Person").count == 2)
    }

    /// Equal descriptions do not make values equal.
    @Test(arguments: StoreKind.allCases)
    func `Dates of one second and data of one length are different`(kind: StoreKind) throws {
        let event = NSEntityDescription(), model = NSManagedObjectModel()
        event.name = "Event"
        event.properties = [TestStack.attribute("at", .dateAttributeType), TestStack.attribute("code", .binaryDataAttributeType)]
        event.uniquenessConstraints = [["at"], ["code"]]
        model.entities = [event]
        let stack = try TestStack(kind, model: model)
        func insert(_ seconds: Double, _ code: UInt8) {
            stack.insert("Event", ["at": Date(timeIntervalSinceReferenceDate: seconds), "code": Data([code])])
        }
        for (code, seconds) in [0.25, 0.5, 1e300, 2e300].enumerated() { insert(seconds, UInt8(code)) }
        try stack.context.save()
        insert(7, 8)
        insert(7, 9)
        #expect(throws: NSError.self) { try stack.context.save() }
        stack.context.rollback()
        insert(1e300, 10)
        #expect(throws: NSError.self) { try stack.context.save() }
    }

    /// The usual custom policy: the row keeps the values that an import leaves out.
    @Test(arguments: StoreKind.allCases)
    func `A policy may keep the values that an insertion leaves out`(kind: StoreKind) throws {
        final class Backfilling: NSMergePolicy {
            override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
                for conflict in list {
                    guard let row = conflict.databaseObject else { continue }
                    for object in conflict.conflictingObjects {
                        for key in object.entity.attributesByName.keys where !object.changedValues().keys.contains(key) || key == "age" {
                            object.setValue(row.value(forKey: key), forKey: key)
                        }
                    }
                }
                try super.resolve(constraintConflicts: list)
            }
        }
        let (stack, old, _) = try upsert(kind, Backfilling(merge: .mergeByPropertyObjectTrumpMergePolicyType))
        try stack.context.save()
        #expect(old.value(forKey: "name") as? String == "Grace" && old.value(forKey: "age") as? Int == 5)
    }
}
