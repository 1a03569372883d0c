import Foundation
import Testing

@testable import Heartwood

/// A save deletes one object and lets go of it in another. A merge policy drops what the save does to the other one, which somebody else has
/// changed. The deletion stays, so nothing may refer to what is deleted.
@Suite struct DroppedChangeTests {
    private static let policies: [NSMergePolicyType] = [
        .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]
    private static let pairs = [
        ("Node", "parent", "Node"), ("Node", "children", "Node"), ("Node", "friends", "Node"), ("Node", "spouse", "Node"), ("Node", "card", "Card"),
        ("Card", "holder", "Node"), ("Node", "steps", "Step"), ("Step", "owner", "Node"), ("Node", "items", "Item"), ("Item", "nodes", "Node"),
    ]

    /// What this context does to two objects that refer to each other, before the other one's save is merged.
    enum Work: CaseIterable {
        case deleteOne, deleteOther, replace
    }

    @Test(arguments: StoreKind.planning, [NSDeleteRule.nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule])
    func `Nothing refers to a deleted object whose deletion wins, whatever the policy drops besides`(kind: StoreKind, rule: NSDeleteRule) throws {
        for policy in Self.policies {
            let model = GraphModel.make()
            for entity in model.entities where entity.superentity == nil {
                for relationship in entity.relationshipsByName.values where relationship.inverseRelationship != nil { relationship.deleteRule = rule }
            }
            // Small stores: an atomic one is written as a whole by each save.
            for first in stride(from: 0, to: Self.pairs.count, by: 3) {
                let stack = try TestStack(kind, model: model)
                for pair in Self.pairs[first...].prefix(3) {
                    for work in Work.allCases {
                        for renamed in [[0], [1], [0, 1]] { try save(stack, NSMergePolicy(merge: policy), pair, work, renamed) }
                    }
                }
                try check(stack)
            }
        }
    }

    private func save(_ stack: TestStack, _ policy: NSMergePolicy, _ pair: (String, String, String), _ work: Work, _ renamed: [Int]) throws {
        let (entity, key, destination) = pair, other = stack.newContext(), story = "\(policy.mergeType) \(entity).\(key) \(work) \(renamed)"
        let one = stack.make(entity, [story])[0], two = stack.make(destination, [story])[0]
        func set(_ object: NSManagedObject, _ value: NSManagedObject) {
            switch object.entity.relationshipsByName[key] {
            case let relationship? where relationship.isToMany && relationship.isOrdered: object.setValue(NSOrderedSet(array: [value]), forKey: key)
            case let relationship? where relationship.isToMany: object.setValue(NSSet(object: value), forKey: key)
            default: object.setValue(value, forKey: key)
            }
        }
        set(one, two)
        try stack.context.save()
        let (ours, theirs) = (other.own(one), other.own(two))
        _ = (ours.text("name"), theirs.text("name"), ours.names(key))
        for number in renamed { [one, two][number].setValue("\(story), renamed", forKey: "name") }
        try stack.context.save()
        switch work {
        case .deleteOne: other.delete(ours)
        case .deleteOther: other.delete(theirs)
        case .replace:
            set(ours, stack.insert(destination, ["name": story], into: other))
            other.delete(theirs)
        }
        other.mergePolicy = policy
        do { try other.save() } catch let error as NSError {
            // A deny rule; nothing was saved then.
            #expect(error.code == NSValidationRelationshipDeniedDeleteError || error.code == NSValidationMultipleErrorsError, "\(story): \(error)")
        }
    }

    /// A store of the program's own class keeps each side by itself: one side kept the change that the other had lost.
    @Test(arguments: StoreKind.allCases, policies)
    func `Both sides of a many-to-many relationship agree once a policy has dropped the change of one`(
        kind: StoreKind, policy: NSMergePolicyType
    ) throws {
        let stack = try TestStack(kind, model: GraphModel.make())
        for renamed in [[0], [1], [0, 1]] {
            for removes in [false, true] {
                let story = "\(renamed) \(removes)", other = stack.newContext()
                let node = stack.node(story), item = stack.make("Item", [story])[0]
                if removes { node.setValue(NSOrderedSet(object: item), forKey: "items") }
                try stack.context.save()
                let ours = other.own(node), members = removes ? [] : [other.own(item)]
                _ = (ours.names("items"), other.own(item).names("nodes"))
                for number in renamed { [node, item][number].setValue("\(story), renamed", forKey: "name") }
                try stack.context.save()
                for object in [ours, other.own(item)] { object.setValue("\(story), ours", forKey: "name") }
                ours.setValue(NSOrderedSet(array: members), forKey: "items")
                other.mergePolicy = NSMergePolicy(merge: policy)
                try other.save()
            }
        }
        try check(stack)
    }

    private func check(_ stack: TestStack) throws {
        let reader = stack.anew()
        for name in ["Node", "Card", "Item", "Step"] {
            let there = try stack.fetch(name, in: reader)
            for object in there {
                let story = "\(object.text("name") ?? "-"): \(name)"
                for (key, relationship) in object.entity.relationshipsByName {
                    guard let inverse = relationship.inverseRelationship else { continue }
                    for member in object.managedObjects(of: key) {
                        member.fireFault()
                        #expect(!member.isDeleted, "\(story).\(key) leads to a deleted object")
                        #expect(member.managedObjects(of: inverse.name).contains(object), "\(story).\(key) has no other side")
                    }
                }
            }
        }
        guard StoreKind.recordLogs.contains(stack.kind) else { return }
        let findings = try StoreAudit.findings(in: try #require(try stack.store.newestView() as? RecordLogView))
        #expect(findings.isEmpty)
    }
}

extension NSManagedObject {
    fileprivate func managedObjects(of key: String) -> [NSManagedObject] {
        switch value(forKey: key) {
        case let object as NSManagedObject: [object]
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}
