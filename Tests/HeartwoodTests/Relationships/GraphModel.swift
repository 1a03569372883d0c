import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Every kind of relationship.
///
/// A node has a parent and children, friends (their own inverse), a spouse (its own inverse), a card (one to one), steps (ordered, one to many),
/// items (many to many, ordered on both sides), and follows others without an inverse. A step may be a pause.
enum GraphModel {
    static func make(stepRule: NSDeleteRule = .nullifyDeleteRule, childRule: NSDeleteRule = .nullifyDeleteRule) -> NSManagedObjectModel {
        let node = NSEntityDescription(), card = NSEntityDescription(), item = NSEntityDescription()
        let step = NSEntityDescription(), pause = NSEntityDescription()
        (node.name, card.name, item.name, step.name, pause.name) = ("Node", "Card", "Item", "Step", "Pause")
        func name() -> NSAttributeDescription { TestStack.attribute("name", .stringAttributeType) }
        let parent = TestStack.relationship("parent", to: node, toMany: false)
        let children = TestStack.relationship("children", to: node, toMany: true, rule: childRule)
        let friends = TestStack.relationship("friends", to: node, toMany: true)
        let spouse = TestStack.relationship("spouse", to: node, toMany: false)
        let ofNode = TestStack.relationship("card", to: card, toMany: false)
        let holder = TestStack.relationship("holder", to: node, toMany: false)
        let steps = TestStack.relationship("steps", to: step, toMany: true, ordered: true, rule: stepRule)
        let owner = TestStack.relationship("owner", to: node, toMany: false)
        let items = TestStack.relationship("items", to: item, toMany: true, ordered: true)
        let nodes = TestStack.relationship("nodes", to: node, toMany: true, ordered: true)
        let follows = TestStack.relationship("follows", to: node, toMany: true)
        let boss = TestStack.relationship("boss", to: node, toMany: false)
        TestStack.connect(parent, children)
        TestStack.connect(ofNode, holder)
        TestStack.connect(steps, owner)
        TestStack.connect(items, nodes)
        friends.inverseRelationship = friends
        spouse.inverseRelationship = spouse
        node.properties = [name(), parent, children, friends, spouse, ofNode, steps, items, follows, boss]
        card.properties = [name(), holder]
        item.properties = [name(), nodes]
        step.properties = [name(), owner]
        pause.properties = [TestStack.attribute("seconds", .integer16AttributeType)]
        step.subentities = [pause]
        let model = NSManagedObjectModel()
        model.entities = [node, card, item, step, pause]
        return model
    }
}

extension TestStack {
    func node(_ name: String) -> NSManagedObject { insert("Node", ["name": name]) }

    func make(_ entity: String, _ names: [String]) -> [NSManagedObject] { names.map { insert(entity, ["name": $0]) } }

    func named(_ name: String, _ entity: String = "Node", in context: NSManagedObjectContext? = nil) throws -> NSManagedObject {
        try #require(try fetch(entity, "name == %@", [name], in: context).first)
    }
}

extension NSManagedObject {
    /// The names of a relationship's members: in order, or sorted if it is unordered.
    func names(_ key: String) -> [String] {
        switch value(forKey: key) {
        case let object as NSManagedObject: [object.value(forKey: "name") as? String ?? "-"]
        case let ordered as NSOrderedSet: ordered.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        case let set as NSSet: set.allObjects.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.sorted()
        default: []
        }
    }

    func index(_ name: String) -> Int { propertyIndex(name) }
}
