import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Deletes its neighbours before its own deletion.
final class MutualNode: NSManagedObject {
    override func prepareForDeletion() {
        for key in ["parent", "children"] {
            let others = (value(forKey: key) as? NSManagedObject).map { [$0] } ?? managedObjects(at: propertyIndex("children"))
            for other in others { managedObjectContext?.delete(other) }
        }
    }
}

@Suite struct DeleteRuleTests {
    private func failure(_ stack: TestStack) -> NSError? {
        #expect(throws: NSError.self) { try stack.context.save() }
    }

    @Test(arguments: StoreKind.allCases)
    func `A cascade around a cycle deletes each object once`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make(childRule: .cascadeDeleteRule))
        let nodes = ["a", "b", "c", "d"].map(stack.node)
        nodes[0].setValue(nodes[2], forKey: "parent")
        nodes[1].setValue(nodes[0], forKey: "parent")
        nodes[2].setValue(nodes[1], forKey: "parent")
        nodes[3].setValue(nodes[3], forKey: "parent")
        try stack.context.save()
        let context = stack.anew()
        context.delete(try stack.named("b", in: context))
        #expect(Set(context.deletedObjects.map(\.objectID)) == Set(nodes[0..<3].map(\.objectID)))
        context.delete(try stack.named("d", in: context))
        try context.save()
        #expect(try stack.fetch("Node", in: stack.anew()).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `A denied deletion fails only while a destination remains`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make(stepRule: .denyDeleteRule))
        let hub = stack.node("hub"), steps = stack.make("Step", ["a", "b"])
        hub.setValue(steps, forKey: "steps")
        try stack.context.save()
        stack.context.delete(hub)
        let error = failure(stack)
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSValidationRelationshipDeniedDeleteError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "steps")
        #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === hub)
        let asked = #expect(throws: NSError.self, "as a class's own validation asks") { try hub.validateForDelete() }
        #expect(asked?.code == NSValidationRelationshipDeniedDeleteError)
        stack.context.delete(steps[0])
        #expect(failure(stack)?.code == NSValidationRelationshipDeniedDeleteError)
        // Either removed from it, or deleted with it.
        steps[1].setValue(nil, forKey: "owner")
        try hub.validateForDelete()
        try stack.context.save()
        #expect(try stack.fetch("Node", in: stack.anew()).isEmpty && stack.fetch("Step", in: stack.anew()).count == 1)
    }

    /// A denied object that was never saved was deleted silently, and its members kept referring to it.
    @Test(arguments: StoreKind.allCases)
    func `Nothing refers to an object that was never saved`(kind: StoreKind) throws {
        for rule in [NSDeleteRule.denyDeleteRule, .noActionDeleteRule] {
            let stack = try TestStack(kind, model: GraphModel.make(stepRule: rule))
            let hub = stack.node("hub"), step = stack.make("Step", ["a"])[0]
            hub.setValue([step], forKey: "steps")
            stack.context.delete(hub)
            #expect(step.value(forKey: "owner") == nil)
            try stack.context.save()
            #expect(try stack.fetch("Step", "owner == nil", in: stack.anew()).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A no-action rule does not change the other side`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make(childRule: .noActionDeleteRule))
        let a = stack.node("a"), b = stack.node("b")
        b.setValue(a, forKey: "parent")
        try stack.context.save()
        stack.context.delete(a)
        #expect(!b.hasChanges)
        try stack.context.save()
        let context = stack.anew()
        let far = try stack.named("b", in: context)
        let gone = far.value(forKey: "parent") as? NSManagedObject
        #expect(gone != nil && gone?.value(forKey: "name") == nil && gone?.isDeleted == true, "a fault that cannot be fulfilled")
    }

    @Test(arguments: StoreKind.allCases)
    func `A reference to an object that the same save deletes is refused`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make())
        let a = stack.node("a"), b = stack.node("b")
        try stack.context.save()
        stack.context.delete(a)
        for key in ["parent", "boss"] {
            b.setValue(a, forKey: key)
            let error = failure(stack)
            #expect(error?.code == NSManagedObjectValidationError && error?.userInfo[NSValidationKeyErrorKey] as? String == key)
            #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === b)
            #expect(error?.userInfo[NSValidationValueErrorKey] as? NSManagedObject === a)
            b.setValue(nil, forKey: key)
        }
        b.mutableSetValue(forKey: "friends").add(a)
        #expect(failure(stack)?.userInfo[NSValidationKeyErrorKey] as? String == "friends")
        b.mutableSetValue(forKey: "friends").remove(a)
        try stack.context.save()
        #expect(try stack.named("b", in: stack.anew()).names("friends") == [])
    }

    /// Two objects that delete each other in their callbacks once recursed without end.
    @Test(arguments: StoreKind.allCases)
    func `Objects that delete each other are deleted once`(kind: StoreKind) throws {
        let model = GraphModel.make()
        model.entitiesByName["Node"]?.managedObjectClassName = NSStringFromClass(MutualNode.self)
        let stack = try TestStack(kind, model: model)
        let a = stack.node("a"), b = stack.node("b")
        b.setValue(a, forKey: "parent")
        try stack.context.save()
        stack.context.delete(a)
        #expect(stack.context.deletedObjects == [a, b])
        try stack.context.save()
        #expect(try stack.fetch("Node").isEmpty)
    }
}
