import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

@Suite struct InverseTests {
    private func stack(_ kind: StoreKind) throws -> TestStack { try TestStack(kind, model: GraphModel.make()) }

    /// Checks the context that made the changes and one that reads them from the store.
    private func both(_ stack: TestStack, _ check: (NSManagedObjectContext) throws -> Void) throws {
        try check(stack.context)
        try stack.context.save()
        try check(stack.context)
        try check(stack.anew())
    }

    @Test(arguments: StoreKind.allCases)
    func `In a one-to-one relationship the rival loses its partner`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let a = stack.node("a"), b = stack.node("b"), cards = stack.make("Card", ["x", "y"])
        a.setValue(cards[0], forKey: "card")
        b.setValue(cards[1], forKey: "card")
        try stack.context.save()
        // From both sides.
        b.setValue(cards[0], forKey: "card")
        try both(stack) { context throws in
            #expect(try stack.named("a", in: context).value(forKey: "card") == nil)
            #expect(try stack.named("x", "Card", in: context).names("holder") == ["b"])
            #expect(try stack.named("y", "Card", in: context).value(forKey: "holder") == nil)
        }
        cards[1].setValue(b, forKey: "holder")
        try both(stack) { context throws in
            #expect(try stack.named("b", in: context).names("card") == ["y"])
            #expect(try stack.named("x", "Card", in: context).value(forKey: "holder") == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A spouse relationship is its own inverse`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let a = stack.node("a"), b = stack.node("b"), c = stack.node("c"), d = stack.node("d")
        a.setValue(b, forKey: "spouse")
        c.setValue(d, forKey: "spouse")
        try stack.context.save()
        a.setValue(c, forKey: "spouse")
        try both(stack) { context throws in
            #expect(try stack.named("a", in: context).names("spouse") == ["c"] && stack.named("c", in: context).names("spouse") == ["a"])
            #expect(try stack.named("b", in: context).value(forKey: "spouse") == nil)
            #expect(try stack.named("d", in: context).value(forKey: "spouse") == nil)
        }
        a.setValue(a, forKey: "spouse")
        try both(stack) { context throws in
            #expect(try stack.named("a", in: context).names("spouse") == ["a"])
            #expect(try stack.named("c", in: context).value(forKey: "spouse") == nil)
        }
        a.setValue(nil, forKey: "spouse")
        try both(stack) { context throws in #expect(try stack.named("a", in: context).value(forKey: "spouse") == nil) }
    }

    @Test(arguments: StoreKind.allCases)
    func `An object may refer to itself`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let a = stack.node("a"), b = stack.node("b"), c = stack.node("c")
        a.setValue(Set([b, c]), forKey: "children")
        a.setValue(a, forKey: "parent")
        a.setValue(Set([a, b]), forKey: "friends")
        c.mutableSetValue(forKey: "friends").add(b)
        try both(stack) { context throws in
            #expect(try stack.named("a", in: context).names("children") == ["a", "b", "c"])
            #expect(try stack.named("c", in: context).names("parent") == ["a"])
            #expect(try stack.named("a", in: context).names("friends") == ["a", "b"])
            #expect(try stack.named("b", in: context).names("friends") == ["a", "c"])
        }
        b.removeManagedObject(c, at: b.index("friends"))
        a.mutableSetValue(forKey: "friends").remove(a)
        try both(stack) { context throws in
            #expect(try stack.named("c", in: context).names("friends") == [] && stack.named("a", in: context).names("friends") == ["b"])
        }
        stack.context.delete(a)
        try both(stack) { context throws in
            #expect(try stack.named("b", in: context).names("friends") == [])
            #expect(try stack.named("c", in: context).value(forKey: "parent") == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `An object of a subentity is a member and keeps the inherited inverse`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let a = stack.node("a"), b = stack.node("b"), step = stack.make("Step", ["s"])[0], pause = stack.make("Pause", ["p"])[0]
        a.setValue([pause, step], forKey: "steps")
        try both(stack) { context throws in
            #expect(try stack.named("a", in: context).names("steps") == ["p", "s"])
            #expect(try stack.named("p", "Pause", in: context).names("owner") == ["a"])
        }
        pause.setValue(b, forKey: "owner")
        try both(stack) { context throws in
            #expect(try stack.named("a", in: context).names("steps") == ["s"] && stack.named("b", in: context).names("steps") == ["p"])
        }
        let mismatch = a.mismatch(step, for: a.runtime.properties[a.index("items")])
        #expect(mismatch?.contains("Node.items holds objects of Item, not of Step") == true)
    }

    /// A deleted object once stayed a member of its owners in a relationship without an inverse.
    @Test(arguments: StoreKind.allCases)
    func `Without an inverse, deleted members are gone from the store`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let a = stack.node("a"), b = stack.node("b"), c = stack.node("c")
        a.setValue(Set([b, c]), forKey: "follows")
        b.setValue(Set([c]), forKey: "follows")
        a.setValue(c, forKey: "boss")
        try both(stack) { context throws in #expect(try stack.named("a", in: context).names("follows") == ["b", "c"]) }
        #expect(b.value(forKey: "boss") == nil, "one side says nothing of the other")
        let context = stack.anew()
        context.delete(try stack.named("b", in: context))
        try context.save()
        let a2 = try stack.named("a", in: stack.anew())
        #expect(a2.countOfManagedObjects(at: a2.index("follows")) == 1 && a2.names("follows") == ["c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `Doing the same twice does it once`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let a = stack.node("a"), b = stack.node("b")
        let follows = a.index("follows"), friends = a.index("friends")
        for key in ["friends", "follows"] {
            let set = a.mutableSetValue(forKey: key)
            set.add(b)
            set.add(b)
            #expect(set.count == 1)
        }
        try both(stack) { context throws in #expect(try stack.named("a", in: context).names("friends") == ["b"]) }
        // Unread: an existing member is added, then removed; a missing one is removed, then added.
        let context = stack.anew()
        let far = context.object(with: a.objectID), other = context.object(with: b.objectID)
        for index in [friends, follows] {
            far.addManagedObject(other, at: index)
            far.removeManagedObject(other, at: index)
            far.removeManagedObject(other, at: index)
            #expect(far.countOfManagedObjects(at: index) == 0 && !far.containsManagedObject(other, at: index))
        }
        try context.save()
        #expect(far.names("friends") == [] && other.names("friends") == [] && far.names("follows") == [])
        let third = stack.anew()
        let near = third.object(with: a.objectID), member = third.object(with: b.objectID)
        for index in [friends, follows] {
            near.removeManagedObject(member, at: index)
            near.addManagedObject(member, at: index)
            #expect(near.countOfManagedObjects(at: index) == 1 && near.containsManagedObject(member, at: index))
        }
        try third.save()
        let last = try stack.named("a", in: stack.anew())
        #expect(last.names("friends") == ["b"] && last.names("follows") == ["b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A member moves between owners in one event`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let owners = ["a", "b", "c"].map(stack.node), child = stack.node("child"), step = stack.make("Step", ["s"])[0]
        for owner in owners + [owners[0], owners[1]] {
            owner.mutableSetValue(forKey: "children").add(child)
            step.setValue(owner, forKey: "owner")
        }
        try both(stack) { context throws in
            for name in ["a", "b", "c"] {
                #expect(try stack.named(name, in: context).names("children") == (name == "b" ? ["child"] : []))
                #expect(try stack.named(name, in: context).names("steps") == (name == "b" ? ["s"] : []))
            }
            #expect(try stack.named("child", in: context).names("parent") == ["b"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Any collection of members may be set`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let a = stack.node("a"), members = ["x", "y"].map(stack.node)
        let swiftSet: Set<NSManagedObject> = Set(members)
        let values: [Any] = [
            NSSet(array: members), NSOrderedSet(array: members), NSArray(array: members), members, swiftSet, NSMutableSet(array: members),
            members.map { $0 as Any }, Set(members.map { AnyHashable($0) }),
        ]
        for value in values {
            a.setValue(nil, forKey: "follows")
            #expect(a.names("follows") == [])
            a.setValue(value, forKey: "follows")
            #expect(a.names("follows") == ["x", "y"], "\(type(of: value))")
        }
        #expect(throws: NSManagedObject.ValueMismatch.self) { try a.setValue(NSSet(array: ["x"]), at: a.index("follows")) }
        #expect(throws: NSManagedObject.ValueMismatch.self) { try a.setValue(3, at: a.index("follows")) }
        #expect(a.names("follows") == ["x", "y"])
    }

    /// When our one-to-one relationship won over another context's, that one's partner kept referring to our object.
    @Test(arguments: StoreKind.allCases)
    func `After a conflict both sides of a one-to-many relationship agree`(kind: StoreKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback] {
            let stack = try stack(kind)
            let a = stack.node("a"), b = stack.node("b"), c = stack.node("c")
            try stack.context.save()
            let context = stack.anew()
            context.mergePolicy = policy
            for object in [a, b, c] { _ = context.object(with: object.objectID).value(forKey: "name") }
            a.setValue(b, forKey: "spouse")
            try stack.context.save()
            context.object(with: a.objectID).setValue(context.object(with: c.objectID), forKey: "spouse")
            try context.save()
            let reader = stack.anew()
            for name in ["a", "b", "c"] {
                let node = try stack.named(name, in: reader)
                guard let spouse = node.value(forKey: "spouse") as? NSManagedObject else { continue }
                #expect(spouse.value(forKey: "spouse") as? NSManagedObject === node, "\(policy.mergeType), \(name)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `After a conflict an owner lists the objects that refer to it`(kind: StoreKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump] {
            let stack = try stack(kind)
            let owners = ["a", "b", "c"].map(stack.node), step = stack.make("Step", ["s"])[0]
            owners[0].setValue([step], forKey: "steps")
            try stack.context.save()
            let context = stack.anew()
            context.mergePolicy = policy
            let far = context.object(with: step.objectID)
            _ = far.value(forKey: "owner")
            step.setValue(owners[1], forKey: "owner")
            try stack.context.save()
            far.setValue(context.object(with: owners[2].objectID), forKey: "owner")
            try context.save()
            let reader = stack.anew()
            let owner = try #require(try stack.named("s", "Step", in: reader).names("owner").first)
            #expect(owner == (policy === NSMergePolicy.mergeByPropertyObjectTrump ? "c" : "b"))
            for name in ["a", "b", "c"] { #expect(try stack.named(name, in: reader).names("steps") == (name == owner ? ["s"] : [])) }
        }
    }
}
