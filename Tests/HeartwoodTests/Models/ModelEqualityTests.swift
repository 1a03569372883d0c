import Foundation
import Testing

@testable import Heartwood

/// Models and their parts are compared by their content.
@Suite struct ModelEqualityTests {
    private static func person(_ model: NSManagedObjectModel) throws -> NSEntityDescription { try #require(model.entitiesByName["Person"]) }

    private static func attribute(_ model: NSManagedObjectModel, _ name: String = "name") throws -> NSAttributeDescription {
        try #require(try person(model).attributesByName[name])
    }

    @Test
    func `Two models made alike are equal, with their entities and properties, and so is a copy`() throws {
        let one = TestStack.model(), two = TestStack.model()
        #expect(one == two && one.hash == two.hash && one.isEqual(two))
        #expect(one.copy() as? NSManagedObjectModel == one)
        #expect([two].firstIndex(of: one) == 0 && Set([one, two]).count == 1)
        for (name, entity) in one.entitiesByName {
            let twin = try #require(two.entitiesByName[name])
            #expect(entity == twin && entity.hash == twin.hash)
            for (name, property) in entity.propertiesByName { #expect(property == twin.propertiesByName[name]) }
        }
        #expect(one != NSManagedObjectModel() && NSManagedObjectModel() == NSManagedObjectModel())
        #expect(!one.isEqual("a text") && !one.isEqual(nil))
    }

    @Test
    func `A model in use is equal to one that is not`() throws {
        let one = TestStack.model(), two = TestStack.model()
        one.makeImmutable()
        #expect(one == two)
        #expect(try Self.person(one) == Self.person(two) && Self.attribute(one) == Self.attribute(two))
    }

    /// One change of each part of a model.
    private static let changes: [(name: String, make: @Sendable (NSManagedObjectModel) throws -> Void)] = [
        ("attribute type", { try attribute($0).attributeType = .URIAttributeType }),
        ("default value", { try attribute($0).defaultValue = "x" }),
        ("optional", { try attribute($0).isOptional = false }),
        ("transient", { try attribute($0).isTransient = true }),
        ("renaming identifier", { try attribute($0).renamingIdentifier = "old" }),
        ("hash modifier", { try attribute($0).versionHashModifier = "2" }),
        ("user info", { try attribute($0).userInfo = ["k": "v"] }),
        ("validation", { try attribute($0).setValidationPredicates([NSPredicate(format: "length > 2")], withValidationWarnings: nil) }),
        ("property name", { try attribute($0, "birthday").name = "born" }),
        ("destination", { try person($0).relationshipsByName["group"]?.destinationEntity = $0.entitiesByName["Tag"] }),
        ("inverse", { try person($0).relationshipsByName["partner"]?.inverseRelationship = nil }),
        ("counts", { try person($0).relationshipsByName["tags"]?.maxCount = 7 }),
        ("order", { try person($0).relationshipsByName["tags"]?.isOrdered = true }),
        ("delete rule", { try person($0).relationshipsByName["tags"]?.deleteRule = .denyDeleteRule }),
        ("entity's class", { try person($0).managedObjectClassName = "Other" }),
        ("abstract", { try person($0).isAbstract = true }),
        ("entity's user info", { try person($0).userInfo = ["k": 1] }),
        ("constraints", { try person($0).uniquenessConstraints = [] }),
        ("indexes", { try person($0).indexes = [] }),
        ("subentities", { try person($0).subentities = [] }),
        ("configuration", { $0.setEntities([], forConfigurationName: "Some") }),
        ("template", { $0.setFetchRequestTemplate(NSFetchRequest(entityName: "Person"), forName: "all") }),
        ("version identifier", { $0.versionIdentifiers = ["2"] }),
    ]

    @Test(arguments: changes.indices)
    func `A model that says one thing otherwise is another model`(change: Int) throws {
        let one = TestStack.model(), two = TestStack.model()
        try Self.changes[change].make(two)
        #expect(one != two, "\(Self.changes[change].name)")
        try Self.changes[change].make(one)
        #expect(one == two, "\(Self.changes[change].name)")
    }

    @Test
    func `Properties of one name in two entities are two properties`() throws {
        let model = TestStack.model()
        let titles = [model.entitiesByName["Group"], model.entitiesByName["Task"]].map { $0?.attributesByName["title"] }
        titles[0]?.isOptional = true
        #expect(titles[0] != titles[1] && titles[0] == titles[0])
    }
}
