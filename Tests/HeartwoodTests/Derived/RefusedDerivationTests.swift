import Foundation
import Testing

@testable import Heartwood

@Suite struct RefusedDerivationTests {
    @Test(
        arguments: [
        ("members.@max.dues", .integer64AttributeType, "@sum"), ("members.@avg.dues", .doubleAttributeType, "@sum"),
        ("members.dues", .integer64AttributeType, "@count"), ("region.clubs.@count", .integer64AttributeType, "must be the first"),
        ("name", .integer64AttributeType, "does not keep"), ("members.@sum.name", .integer64AttributeType, "no sum"),
        ("members.@sum.height", .integer64AttributeType, "does not keep"), ("canonical:(memberCount)", .stringAttributeType, "String"),
        ("name + 'x'", .stringAttributeType, "is a key path"), ("region", .stringAttributeType, "alone has no value"),
        ("nothing", .stringAttributeType, "no property"), ("now()", .stringAttributeType, "Date"), ("a", .stringAttributeType, "in turn"),
        ("scratch", .stringAttributeType, "transient"), ("unique", .stringAttributeType, "uniqueness"),
    ] as [(String, NSAttributeType, String)])
    func `A derivation that cannot be computed refuses the store`(format: String, type: NSAttributeType, reason: String) throws {
        let model = ClubModel.make { entities in
            let scratch = TestStack.attribute("scratch", .stringAttributeType)
            scratch.isTransient = true
            let wrong = ClubModel.derived("wrong", type, format == "a" ? "b" : format == "unique" ? "name" : format)
            let other = ClubModel.derived("b", .stringAttributeType, format == "a" ? "wrong" : "name")
            entities["Club"]!.properties += [scratch, wrong, other]
            if format == "unique" { entities["Club"]!.uniquenessConstraints = [["wrong"]] }
        }
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("refused-\(UUID().uuidString).heartwood")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url)
        } as? NSError
        #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("Club.") && text.contains(reason), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test
    func `A configuration that holds only one side is refused`() throws {
        let model = ClubModel.make()
        model.setEntities([model.entitiesByName["Region"]!], forConfigurationName: "Regions")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Regions", at: nil)
        } as? NSError
        #expect(error?.code == NSPersistentStoreIncompatibleSchemaError && error?.localizedDescription.contains("does not hold") == true)
    }

    @Test
    func `A derived element of a composite is refused`() throws {
        let inner = NSCompositeAttributeDescription(), outer = NSCompositeAttributeDescription()
        inner.name = "inner"
        inner.elements = [ClubModel.derived("upper", .stringAttributeType, "uppercase:(name)")]
        outer.name = "outer"
        outer.elements = [inner]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ClubModel.make { $0["Club"]?.properties.append(outer) })
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        } as? NSError
        #expect(error?.code == NSPersistentStoreIncompatibleSchemaError && error?.localizedDescription.contains("Club.outer") == true)
        let refused = #expect(throws: (any Error).self) {
            try ModelTests.load("""
                <entity name="Club"><attribute name="outer" attributeType="Composite" composite="Outer"/></entity>
                <composite name="Outer"><attribute name="now" attributeType="Date" derived="YES" derivationExpression="now()"/></composite>
                """)
        }
        #expect(refused?.localizedDescription.contains("now, which is derived") == true)
    }
}
