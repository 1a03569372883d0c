import Heartwood

/// Trees of woods (one to many), and birds on trees (many to many, ordered).
enum ForestModel {
    static let made = make()
    /// Another version.
    static let later = make(isLater: true)

    /// With a derived attribute.
    static let derived = {
        let tree = NSEntityDescription(), name = attribute("name", .stringAttributeType), plain = NSDerivedAttributeDescription()
        (plain.name, plain.attributeType, plain.derivationExpression) = ("plain", .stringAttributeType, NSExpression(format: "canonical:(name)"))
        (tree.name, tree.properties) = ("Tree", [name, plain])
        let model = NSManagedObjectModel()
        model.entities = [tree]
        return model
    }()

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = (name, type)
        return attribute
    }

    private static func relationship(_ name: String, _ entity: NSEntityDescription, max: Int = 0) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        (relationship.name, relationship.destinationEntity, relationship.maxCount) = (name, entity, max)
        return relationship
    }

    private static func make(isLater: Bool = false) -> NSManagedObjectModel {
        let tree = NSEntityDescription(), wood = NSEntityDescription(), bird = NSEntityDescription()
        (tree.name, wood.name, bird.name) = ("Tree", "Wood", "Bird")
        let stand = relationship("wood", wood, max: 1), trees = relationship("trees", tree)
        let birds = relationship("birds", bird), seats = relationship("trees", tree)
        (stand.inverseRelationship, trees.inverseRelationship) = (trees, stand)
        (birds.inverseRelationship, seats.inverseRelationship, birds.isOrdered) = (seats, birds, true)
        tree.properties = [attribute("name", .stringAttributeType), attribute("age", .integer64AttributeType), stand, birds]
        if isLater { tree.properties.append(attribute("height", .doubleAttributeType)) }
        wood.properties = [attribute("title", .stringAttributeType), attribute("size", .integer64AttributeType), trees]
        wood.uniquenessConstraints = [["title"]]
        bird.properties = [attribute("name", .stringAttributeType), seats]
        let model = NSManagedObjectModel()
        model.entities = [tree, wood, bird]
        return model
    }
}
