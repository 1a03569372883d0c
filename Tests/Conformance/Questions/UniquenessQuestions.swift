import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct UniquenessQuestions {
    /// Items with unique names; one "a" with number 1 is saved. Another context has the policy.
    private func stack(_ policy: NSMergePolicy? = nil, unique: [[String]] = [["name"]]) throws -> (Stack, NSManagedObjectContext) {
        let stack = try Stack(.database, Sketch.items([Sketch.attribute("note")], unique: unique))
        try stack.saved("Item", ["name": "a", "number": 1])
        return (stack, stack.sibling(policy))
    }

    private func stored(_ stack: Stack) throws -> [String] {
        try stack.sibling().fetch(stack.request("Item", by: "name", "number")).map { "\($0.text("name") ?? "-") \($0.int("number") ?? 0)" }
    }

    @Test(.header("CoreDataErrors", "NSManagedObjectConstraintMergeError"))
    func `The error policy fails a second equal value with 133021`() throws {
        let (stack, other) = try stack()
        stack.new("Item", ["name": "a"], in: other)
        let error = try #require(failure { try other.save() })
        #expect(error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectConstraintMergeError)
        #expect(try stored(stack) == ["a 1"])
    }

    @Test(.header("NSMergePolicy", "NSConstraintConflict"))
    func `The error lists constraint conflicts with the row's object and the values`() throws {
        let (stack, other) = try stack(), item = stack.new("Item", ["name": "a"], in: other)
        let error = try #require(failure { try other.save() })
        let conflict = try #require((error.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
        #expect(conflict.constraint == ["name"] && conflict.constraintValues["name"] as? String == "a")
        #expect(conflict.conflictingObjects == [item] && conflict.databaseObject != nil)
        #expect(conflict.databaseSnapshot?["number"] as? Int == 1)
    }

    @Test(.header("NSMergePolicy", "NSConstraintConflict: context-level violation"))
    func `Two equal insertions of one context conflict without a row`() throws {
        let (stack, other) = try stack(), items = [stack.new("Item", ["name": "b"], in: other), stack.new("Item", ["name": "b"], in: other)]
        let error = try #require(failure { try other.save() })
        let conflict = try #require((error.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
        #expect(Set(conflict.conflictingObjects) == Set(items) && conflict.databaseObject == nil)
    }

    @Test(.wwdc(2015, 220, "Unique constraints"))
    func `If the object trumps, the row takes the new values`() throws {
        let (stack, other) = try stack(.mergeByPropertyObjectTrump)
        stack.new("Item", ["name": "a", "number": 2], in: other)
        try other.save()
        #expect(try stored(stack) == ["a 2"])
    }

    @Test(.wwdc(2015, 220, "Unique constraints"))
    func `If the store trumps, the row keeps its values`() throws {
        let (stack, other) = try stack(.mergeByPropertyStoreTrump)
        stack.new("Item", ["name": "a", "number": 2], in: other)
        try other.save()
        #expect(try stored(stack) == ["a 1"])
    }

    @Test(.header("NSMergePolicy", "NSRollbackMergePolicy"))
    func `The policy of rolling back drops the insertion`() throws {
        let (stack, other) = try stack(.rollback)
        stack.new("Item", ["name": "a", "number": 2], in: other)
        try other.save()
        #expect(try stored(stack) == ["a 1"])
    }

    @Test(.header("NSMergePolicy", "NSOverwriteMergePolicy"))
    func `The overwriting policy writes the new object`() throws {
        let (stack, other) = try stack(.overwrite)
        stack.new("Item", ["name": "a", "number": 2], in: other)
        try other.save()
        #expect(try stored(stack) == ["a 2"])
    }

    @Test(.header("NSEntityDescription", "uniquenessConstraints"))
    func `A change to a value that is taken conflicts too`() throws {
        let (stack, other) = try stack()
        let item = stack.new("Item", ["name": "b"], in: other)
        try other.save()
        item.setValue("a", forKey: "name")
        #expect(stack.codes(other) == [NSManagedObjectConstraintMergeError])
    }

    @Test(.source("SQLite, UNIQUE constraints: NULL values are distinct"))
    func `nil is equal to no other nil`() throws {
        let (stack, other) = try stack()
        for _ in 1...2 { stack.new("Item", in: other) }
        #expect(stack.codes(other) == [])
    }

    @Test(.header("NSEntityDescription", "uniquenessConstraints: one or more attributes"))
    func `A constraint of several attributes is broken by all of them together`() throws {
        let (stack, other) = try stack(unique: [["name", "number"]])
        stack.new("Item", ["name": "a", "number": 2], in: other)
        #expect(stack.codes(other) == [])
        stack.new("Item", ["name": "a", "number": 1], in: other)
        #expect(stack.codes(other) == [NSManagedObjectConstraintMergeError])
    }

    @Test(.header("NSEntityDescription", "uniquenessConstraints: entity hierarchies"))
    func `A sub-entity's object has to keep its parent's constraint`() throws {
        let parent = Sketch.entity("Parent", [Sketch.attribute("name")]), child = Sketch.entity("Child", [])
        parent.subentities = [child]
        parent.uniquenessConstraints = [["name"]]
        let stack = try Stack(.database, Sketch.model(parent, child))
        try stack.saved("Parent", ["name": "a"])
        stack.new("Child", ["name": "a"])
        #expect(stack.codes() == [NSManagedObjectConstraintMergeError])
    }

    @Test(.header("NSEntityDescription", "uniquenessConstraints"))
    func `A value is free once its row is deleted`() throws {
        let (stack, _) = try stack()
        stack.context.delete(try stack.only("Item", in: stack.context))
        stack.new("Item", ["name": "a", "number": 5])
        #expect(stack.codes() == [])
        #expect(try stored(stack) == ["a 5"])
    }

    @Test(.header("NSEntityDescription", "uniquenessConstraints: part of the version hash"))
    func `Constraints are part of an entity's version`() {
        let plain = Sketch.items(), unique = Sketch.items(unique: [["name"]])
        #expect(plain.entityVersionHashesByName["Item"] != unique.entityVersionHashesByName["Item"])
    }

    @Test(.wwdc(2015, 220, "Unique constraints"))
    func `After an upsert a fetch finds one object in the saving context`() throws {
        let (stack, other) = try stack(.mergeByPropertyObjectTrump)
        stack.new("Item", ["name": "a", "number": 2], in: other)
        try other.save()
        #expect(try stack.fetch("Item", in: other).map { $0.int("number") } == [2])
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B19)"))
    func `The row's object that takes a new one's members hears willSave`() throws {
        let item = Sketch.entity("Item", [Sketch.attribute("name")], of: Witness.self), part = Sketch.entity("Part", [])
        item.uniquenessConstraints = [["name"]]
        Sketch.pair(Sketch.relationship(item, "parts", .many, to: part), Sketch.relationship(part, "item", .one, to: item))
        Witness.forget()
        let stack = try Stack(.database, Sketch.model(item, part)), id = try stack.saved("Item", ["name": "a"]).objectID
        let other = stack.sibling(.mergeByPropertyObjectTrump)
        stack.new("Part", ["item": stack.new("Item", ["name": "a"], in: other)], in: other)
        var heard: [NSManagedObjectID] = []
        Witness.onWillSave = { heard.append($0.objectID) }
        try other.save()
        Witness.forget()
        #expect(try stack.only("Item", in: stack.sibling()).members("parts").count == 1)
        #expect(heard.contains(id))
    }
}
