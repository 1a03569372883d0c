import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

final class SiblingOak: NSManagedObject {
    /// As the plugin writes the accessor of an `@NSManaged` property.
    var title: String? { managedString(at: propertyIndex("title")) }
}

final class SiblingElm: NSManagedObject {}

protocol Felled {}

final class SiblingOwner: NSManagedObject {
    var tree: SiblingOak? { uncheckedDestination(at: propertyIndex("tree")) }
    var trees: Set<SiblingOak> { uncheckedDestinations(at: propertyIndex("trees")) }
    var felled: (any Felled)? { uncheckedDestination(at: propertyIndex("tree")) }
}

/// A property that declares one subclass of its relationship's entity hands on an object of another, as on Apple's platforms.
@Suite struct SiblingDestinationTests {
    private static func model() -> NSManagedObjectModel {
        let tree = NSEntityDescription(), oak = NSEntityDescription(), elm = NSEntityDescription(), owner = NSEntityDescription()
        (tree.name, oak.name, elm.name, owner.name) = ("Tree", "Oak", "Elm", "Owner")
        oak.managedObjectClassName = NSStringFromClass(SiblingOak.self)
        elm.managedObjectClassName = NSStringFromClass(SiblingElm.self)
        owner.managedObjectClassName = NSStringFromClass(SiblingOwner.self)
        tree.properties = [TestStack.attribute("title", .stringAttributeType)]
        tree.subentities = [oak, elm]
        owner.properties = [TestStack.relationship("tree", to: tree, toMany: false), TestStack.relationship("trees", to: tree, toMany: true)]
        let model = NSManagedObjectModel()
        model.entities = [tree, oak, elm, owner]
        return model
    }

    @Test(arguments: StoreKind.allCases)
    func `An object of a sibling class is handed on`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model())
        let elm = stack.insert("Elm", ["title": "e"]), oak = stack.insert("Oak", ["title": "o"])
        let owner = try #require(stack.insert("Owner", ["tree": elm, "trees": NSSet(array: [elm, oak])]) as? SiblingOwner)
        try stack.context.save()
        for context in [stack.context, stack.anew()] {
            let owner = try #require(context.object(with: owner.objectID) as? SiblingOwner)
            let tree = try #require(owner.tree)
            #expect(tree.entity.name == "Elm" && tree.objectID == elm.objectID && tree.title == "e")
            #expect(Set(owner.trees.map(\.objectID)) == [elm.objectID, oak.objectID] && Set(owner.trees.map(\.title)) == ["e", "o"])
            #expect(owner.felled == nil, "what does not conform is no value of a protocol's type")
            owner.setValue(nil, forKey: "tree")
            #expect(owner.tree == nil)
            context.rollback()
        }
    }
}
