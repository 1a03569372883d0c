import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The methods of a policy that are called, the policies' old names, and a context's name, author and user info.
@Suite struct PolicyHookTests {
    /// Overrides only the oldest method.
    private final class Old: NSMergePolicy {
        struct Refusal: Error {}
        var asked: [[Any]] = []
        var refuses = false

        override func resolve(mergeConflicts list: [Any]) throws {
            asked.append(list)
            if refuses { throw Refusal() }
            for case let conflict as NSMergeConflict in list { conflict.sourceObject.setValue("decided", forKey: "name") }
            try super.resolve(mergeConflicts: list)
        }
    }

    /// A context with changes of two persons whom another one has changed and saved.
    private func behind(_ kind: StoreKind) throws -> (TestStack, [NSManagedObject]) {
        let stack = try TestStack(kind)
        let people = ["a", "b"].map { stack.insert("Person", ["name": $0, "email": "\($0)@x"]) }
        try stack.context.save()
        let other = stack.newContext()
        for person in people {
            #expect(person.value(forKey: "age") as? Int == 1)
            other.object(with: person.objectID).setValue("theirs", forKey: "name")
            other.object(with: person.objectID).setValue(2, forKey: "age")
            person.setValue("ours", forKey: "name")
        }
        try other.save()
        return (stack, people)
    }

    private func stored(_ stack: TestStack, _ key: String) throws -> Set<String> {
        Set(try stack.fetch("Person", in: stack.anew()).map { "\($0.value(forKey: key) ?? "nil")" })
    }

    @Test(arguments: StoreKind.allCases)
    func `A policy that overrides only the oldest method is asked`(kind: StoreKind) throws {
        let (stack, people) = try behind(kind)
        let policy = Old(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        stack.context.mergePolicy = policy
        policy.refuses = true
        #expect(throws: Old.Refusal.self) { try stack.context.save() }
        #expect(try stored(stack, "name") == ["theirs"] && stack.context.updatedObjects == Set(people))
        policy.refuses = false
        policy.asked = []
        try stack.context.save()
        #expect(policy.asked.count == 1, "both at once")
        let conflicts = policy.asked.first as? [NSMergeConflict] ?? []
        #expect(Set(conflicts.map(\.sourceObject)) == Set(people))
        #expect(conflicts.allSatisfy { $0.objectSnapshot?["age"] as? Int == 1 && $0.cachedSnapshot?["age"] as? Int == 2 })
        #expect(try stored(stack, "name") == ["decided"] && stored(stack, "age") == ["2"])
        #expect(!stack.context.hasChanges && people[0].value(forKey: "age") as? Int == 2)
    }

    /// Called directly, it resolves conflicts of both kinds in one list.
    @Test(arguments: StoreKind.allCases)
    func `One list may have conflicts of both kinds`(kind: StoreKind) throws {
        final class Keeping: NSMergePolicy {
            var kept: [Any] = []
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                kept += list
                try NSMergePolicy.error.resolve(optimisticLockingConflicts: list)
            }
            override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
                kept += list
                try NSMergePolicy.error.resolve(constraintConflicts: list)
            }
        }
        let (stack, people) = try behind(kind)
        let keeping = Keeping(merge: .errorMergePolicyType)
        stack.context.mergePolicy = keeping
        #expect(throws: NSError.self) { try stack.context.save() }
        stack.context.refresh(people[0], mergeChanges: false)
        stack.context.refresh(people[1], mergeChanges: false)
        let second = stack.insert("Person", ["name": "second", "email": "a@x"])
        #expect(throws: NSError.self) { try stack.context.save() }
        #expect(keeping.kept.count == 3 && keeping.kept.last is NSConstraintConflict)
        try NSMergePolicy.mergeByPropertyObjectTrump.resolve(mergeConflicts: keeping.kept)
        try stack.context.save()
        #expect(second.managedObjectContext == nil && !stack.context.hasChanges)
        #expect(try stored(stack, "name") == ["second", "theirs"])
    }

    @Test(arguments: StoreKind.allCases)
    func `The old names refer to the same policies`(kind: StoreKind) throws {
        for (global, policy, name, age) in [
            (NSOverwriteMergePolicy, NSMergePolicy.overwrite, "ours", "1"), (NSRollbackMergePolicy, .rollback, "theirs", "2"),
            (NSMergeByPropertyStoreTrumpMergePolicy, .mergeByPropertyStoreTrump, "theirs", "2"),
            (NSMergeByPropertyObjectTrumpMergePolicy, .mergeByPropertyObjectTrump, "ours", "2"),
        ] {
            #expect(global as? NSMergePolicy == policy)
            let (stack, _) = try behind(kind)
            #expect(NSErrorMergePolicy as? NSMergePolicy == stack.context.mergePolicy as? NSMergePolicy)
            stack.context.mergePolicy = global
            try stack.context.save()
            #expect(try stored(stack, "name") == [name] && stored(stack, "age") == [age])
        }
    }

    @Test(arguments: StoreKind.recordLogs)
    func `Each commit names its author`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        func author() throws -> String? {
            let log = try #require(stack.store.log)
            return try #require(try log.commit(log.snapshot().sequence)).author
        }
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        #expect(try author() == nil)
        stack.context.transactionAuthor = "import"
        person.setValue("b", forKey: "name")
        try stack.context.save()
        #expect(try author() == "import")
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = stack.context
        child.transactionAuthor = "editor"
        child.object(with: person.objectID).setValue("c", forKey: "name")
        try child.save()
        stack.context.transactionAuthor = "ä\u{1F333}"
        try stack.context.save()
        #expect(try author() == "ä\u{1F333}", "it is the root that commits")
        let batch = NSBatchUpdateRequest(entityName: "Person")
        batch.propertiesToUpdate = ["age": 9]
        stack.context.transactionAuthor = "batch"
        _ = try stack.context.execute(batch)
        #expect(try author() == "batch")
    }

    @Test(arguments: StoreKind.allCases)
    func `A context keeps its name and user info`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let context = stack.context
        #expect(context.name == nil && context.transactionAuthor == nil && context.userInfo.count == 0)
        context.name = "editor"
        context.userInfo["window"] = 7
        stack.insert("Person", ["name": "a"])
        try context.save()
        context.reset()
        #expect(context.name == "editor" && context.userInfo["window"] as? Int == 7)
        #expect(stack.anew().userInfo.count == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `willAccessValue fires the fault once`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let id = try { () throws -> NSManagedObjectID in
            let person = stack.insert("Person", ["name": "a"])
            try stack.context.save()
            return person.objectID
        }()
        let person = try #require(stack.anew().object(with: id) as? Person)
        #expect(person.isFault && person.fetches == 0)
        person.willAccessValue(forKey: "name")
        #expect(!person.isFault && person.fetches == 1 && person.primitiveValue(forKey: "name") as? String == "a")
        person.didAccessValue(forKey: "name")
        person.willAccessValue(forKey: nil)
        #expect(person.fetches == 1 && !person.hasChanges)
        person.managedObjectContext?.refresh(person, mergeChanges: false)
        person.willAccessValue(forKey: "unheard of")
        #expect(person.fetches == 2)
    }
}
