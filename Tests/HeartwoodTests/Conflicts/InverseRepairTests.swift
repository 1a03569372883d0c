import Foundation
import Testing

@testable import Heartwood

/// Relationships of which the store keeps both sides: whatever happens to one side before the save, the store's two sides agree.
@Suite struct InverseRepairTests {
    private func stack(_ kind: StoreKind) throws -> TestStack { try TestStack(kind, model: GraphModel.make()) }

    /// The owner's members were dropped with its changes, and the member's owner was written: the store had an owner without its member.
    @Test(arguments: StoreKind.allCases)
    func `An owner whose changes a policy drops lists its new member`(kind: StoreKind) throws {
        let stack = try stack(kind), other = stack.newContext()
        let node = stack.node("n"), step = stack.make("Step", ["s"])[0]
        try stack.context.save()
        let theirs = other.own(node)
        #expect(theirs.names("steps") == [])
        node.setValue("renamed", forKey: "name")
        try stack.context.save()
        theirs.setValue("lost", forKey: "name")
        other.own(step).setValue(theirs, forKey: "owner")
        other.mergePolicy = NSMergePolicy.rollback
        try other.save()
        let reader = stack.anew()
        #expect(try stack.named("s", "Step", in: reader).names("owner") == ["renamed"])
        #expect(try stack.named("renamed", in: reader).names("steps") == ["s"])
    }

    /// One-to-many relationships with an order, one-to-one ones, and relationships that are their own inverse.
    @Test(arguments: StoreKind.allCases)
    func `A refresh that drops one side leaves no half of a pair`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let a = stack.node("a"), b = stack.node("b"), steps = stack.make("Step", ["s", "t"]), card = stack.make("Card", ["c"])[0]
        steps[1].setValue(a, forKey: "owner")
        try stack.context.save()
        a.setValue(NSOrderedSet(array: [steps[0]]), forKey: "steps")
        a.setValue(card, forKey: "card")
        a.setValue(Set([b]), forKey: "friends")
        b.setValue(a, forKey: "spouse")
        stack.context.refresh(a, mergeChanges: false)
        try stack.context.save()
        let reader = stack.anew()
        let stored = try stack.named("a", in: reader)
        #expect(stored.names("steps") == ["s"] && stored.names("card") == ["c"])
        #expect(stored.names("friends") == ["b"] && stored.names("spouse") == ["b"])
        #expect(try stack.named("c", "Card", in: reader).names("holder") == ["a"])
        #expect(try stack.named("t", "Step", in: reader).names("owner") == [])
    }

    /// A merge puts other saves under the context's changes, so the save has no conflict.
    @Test(arguments: StoreKind.allCases)
    func `A merged rival loses its partner`(kind: StoreKind) throws {
        let stack = try stack(kind), other = stack.newContext()
        let a = stack.node("a"), b = stack.node("b"), card = stack.make("Card", ["c"])[0]
        try stack.context.save()
        other.own(a).setValue(other.own(card), forKey: "card")
        card.setValue(b, forKey: "holder")
        try stack.context.save()
        other.refreshAllObjects()
        try other.save()
        let reader = stack.anew()
        #expect(try stack.named("c", "Card", in: reader).names("holder") == ["a"])
        #expect(try stack.named("a", in: reader).names("card") == ["c"])
        #expect(try stack.named("b", in: reader).names("card") == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that referred to a deleted one no longer does when the deletion wins`(kind: StoreKind) throws {
        let stack = try stack(kind), other = stack.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let a = stack.node("a"), cards = stack.make("Card", ["c", "d"]), steps = stack.make("Step", ["s"])
        try stack.context.save()
        other.delete(other.own(cards[0]))
        other.delete(other.own(steps[0]))
        a.setValue(cards[0], forKey: "card")
        steps[0].setValue(a, forKey: "owner")
        try stack.context.save()
        try other.save()
        let stored = try stack.named("a", in: stack.anew())
        #expect(stored.one("card") == nil && stored.objectIDs(forRelationshipNamed: "steps").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that overwrites another takes its partner along`(kind: StoreKind) throws {
        let stack = try stack(kind), other = stack.newContext()
        other.mergePolicy = NSMergePolicy.overwrite
        let a = stack.node("a"), b = stack.node("b"), card = stack.make("Card", ["c"])[0]
        a.setValue(card, forKey: "card")
        try stack.context.save()
        #expect(other.own(card).names("holder") == ["a"])
        other.own(a).setValue("A", forKey: "name")
        b.setValue(card, forKey: "card")
        try stack.context.save()
        try other.save()
        let reader = stack.anew()
        #expect(try stack.named("A", in: reader).names("card") == ["c"])
        #expect(try stack.named("c", "Card", in: reader).names("holder") == ["A"])
        #expect(try stack.named("b", in: reader).names("card") == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `A member that was read before its owner took it leaves the owner`(kind: StoreKind) throws {
        let stack = try stack(kind), other = stack.newContext()
        let node = stack.node("n"), step = stack.make("Step", ["s"])[0]
        try stack.context.save()
        #expect(other.own(step).one("owner") == nil && other.own(step).text("name") == "s")
        step.setValue(node, forKey: "owner")
        try stack.context.save()
        let theirs = other.own(node)
        #expect(theirs.names("steps") == ["s"])
        theirs.setValue(NSOrderedSet(), forKey: "steps")
        try other.save()
        let reader = stack.anew()
        #expect(try stack.named("n", in: reader).names("steps") == [] && stack.named("s", "Step", in: reader).one("owner") == nil)
    }

    /// The members that the context had read counted as stored.
    @Test(arguments: StoreKind.planning)
    func `An owner that is written again lists the members that refer to it`(kind: StoreKind) throws {
        let stack = try stack(kind), other = stack.newContext()
        other.mergePolicy = NSMergePolicy.overwrite
        let node = stack.node("n"), step = stack.make("Step", ["s"])[0]
        step.setValue(node, forKey: "owner")
        try stack.context.save()
        let theirs = other.own(node)
        #expect(theirs.names("steps") == ["s"])
        theirs.setValue("N", forKey: "name")
        other.own(step).setValue("S", forKey: "name")
        other.own(step).setValue(nil, forKey: "owner")
        other.own(step).setValue(theirs, forKey: "owner")
        stack.context.delete(node)
        try stack.context.save()
        try other.save()
        let reader = stack.anew()
        #expect(try stack.named("S", "Step", in: reader).names("owner") == ["N"])
        #expect(try stack.named("N", in: reader).names("steps") == ["S"])
    }
}
