import Foundation
import Heartwood
import SwiftData

/// Classes over a store whose model says more than a class can, and keeps values in other forms.
enum Forms {
    enum Mood: String, Codable { case calm, wild }

    enum Level: Int, Codable { case low = 1, high = 9 }

    enum Reason: Codable, Equatable {
        case none
        case text(String)
        case when(Date)
        case sized(width: Double, mark: UUID)
        case coded([Int])
        case unknownToTheStore
    }

    struct Place: Codable, Equatable {
        var city: String
        var mood: Mood
        var point: Point
        var notes: [String]

        struct Point: Codable, Equatable {
            var x: Double
            var y: Double
        }
    }

    struct Marks: Codable, Equatable {
        var flavors: [String]?
        var level: Level?
    }

    @Model
    class Being {
        var name: String
        var search: String?

        init(name: String) { self.name = name }
    }

    @Model
    final class Creature: Being {
        var texts: [String] = []
        var dates: [Date]?
        var keys: Set<UUID>?
        var counts: [String: Int]?
        var places: [Place]?
        var plist: [String]?
        var mood: Mood = Mood.calm
        var level: Level?
        var reason: Reason?
        var place: Place?
        var marks: Marks = Marks(flavors: ["default"], level: .low)
        var friends: [Creature]?
        var favourite: Limb?
        @Relationship(inverse: \Limb.creature) var limbs: [Limb] = []

        override init(name: String) { super.init(name: name) }
    }

    @Model
    final class Limb {
        var label: String
        var creature: Creature?
        var fan: Creature?

        init(label: String) { self.label = label }
    }

    static let types: [any PersistentModel.Type] = [Being.self, Creature.self, Limb.self]
}

/// The model of that store, in code.
enum FormStore {
    static func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool = true) -> NSAttributeDescription {
        let made = NSAttributeDescription()
        (made.name, made.attributeType, made.isOptional) = (name, type, isOptional)
        if type == .transformableAttributeType { made.valueTransformerName = "NSSecureUnarchiveFromData" }
        return made
    }

    static func composite(_ name: String, isOptional: Bool = true, _ elements: [NSAttributeDescription]) -> NSAttributeDescription {
        let made = NSCompositeAttributeDescription()
        (made.name, made.elements, made.isOptional) = (name, elements, isOptional)
        return made
    }

    private static func relationship(_ name: String, _ destination: NSEntityDescription, isToMany: Bool) -> NSRelationshipDescription {
        let made = NSRelationshipDescription()
        (made.name, made.destinationEntity, made.maxCount, made.deleteRule) = (name, destination, isToMany ? 0 : 1, .nullifyDeleteRule)
        return made
    }

    static func model() -> NSManagedObjectModel {
        let being = NSEntityDescription(), creature = NSEntityDescription(), limb = NSEntityDescription()
        (being.name, creature.name, limb.name) = ("Being", "Creature", "Limb")
        being.isAbstract = true
        let search = NSDerivedAttributeDescription()
        (search.name, search.attributeType) = ("search", .stringAttributeType)
        search.derivationExpression = NSExpression(format: "canonical:(name)")
        being.properties = [attribute("name", .stringAttributeType, isOptional: false), search]
        let friends = relationship("friends", creature, isToMany: true)
        let favourite = relationship("favourite", limb, isToMany: false), fan = relationship("fan", creature, isToMany: false)
        let limbs = relationship("limbs", limb, isToMany: true), owner = relationship("creature", creature, isToMany: false)
        limbs.isOrdered = true
        friends.inverseRelationship = friends
        (limbs.inverseRelationship, owner.inverseRelationship) = (owner, limbs)
        let transformables = ["dates", "keys", "counts", "places"].map { attribute($0, .transformableAttributeType) }
        creature.properties = transformables + [
            attribute("texts", .transformableAttributeType, isOptional: false),
            attribute("plist", .binaryDataAttributeType),
            attribute("mood", .stringAttributeType, isOptional: false),
            composite("level", [attribute("level", .integer64AttributeType)]),
            composite("reason", [
                attribute("none", .stringAttributeType), attribute("text", .stringAttributeType), attribute("when", .dateAttributeType),
                composite("sized", [attribute("width", .doubleAttributeType), attribute("mark", .UUIDAttributeType)]),
                attribute("coded", .binaryDataAttributeType),
            ]),
            composite("place", [
                attribute("city", .stringAttributeType), attribute("mood", .stringAttributeType), attribute("point", .binaryDataAttributeType),
                attribute("notes", .transformableAttributeType),
            ]),
            composite("marks", isOptional: false, [
                attribute("flavors", .binaryDataAttributeType), composite("level", [attribute("level", .integer64AttributeType)]),
            ]),
            friends, favourite, limbs,
        ]
        limb.properties = [attribute("label", .stringAttributeType, isOptional: false), owner, fan]
        being.subentities = [creature]
        let model = NSManagedObjectModel()
        model.entities = [being, creature, limb]
        return model
    }

    static func context(at url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        _ = try coordinator.addPersistentStore(type: .recordLog, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}
