import Foundation
import Testing

@testable import Heartwood

/// Found by its name without a module: the mapping model names another module.
final class Country5ToCountry6Policy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let code = sInstance.value(forKey: "isoContinent") as? NSNumber,
            let country = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Continent")
        request.predicate = NSPredicate(format: "numericISO3166Code == %@", code)
        let known = try manager.destinationContext.fetch(request).first
        let continent = known ?? NSEntityDescription.insertNewObject(forEntityName: "Continent", into: manager.destinationContext)
        continent.setValue(code, forKey: "numericISO3166Code")
        country.setValue(continent, forKey: "continent")
    }
}

/// The mapping models of a published book, as Xcode wrote them.
@Suite struct XcodeMappingTests {
    static let folder = ModelTests.shared.appendingPathComponent("objcio+core-data/Migrations/Migrations")
    static let isThere = FileManager.default.fileExists(atPath: folder.path)

    private static func model(_ version: Int) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.load(contentsOf: folder.appendingPathComponent("Moody.xcdatamodeld/Moody \(version).xcdatamodel"))
    }

    private static func mapping(_ from: Int) throws -> NSMappingModel {
        try NSMappingModel.load(contentsOf: folder.appendingPathComponent("Moody \(from)-Moody \(from + 1).xcmappingmodel"))
    }

    @Test(.enabled(if: isThere, "../shared/models is absent"), arguments: 2...5)
    func `A mapping model has the content that the editor shows`(from: Int) throws {
        let mapping = try Self.mapping(from), old = try Self.model(from), new = try Self.model(from + 1)
        for entity in mapping.entityMappings {
            #expect(
                entity.sourceEntityName.map { old.entitiesByName[$0]?.versionHash == entity.sourceEntityVersionHash }
                    ?? (entity.mappingType == .addEntityMappingType))
            #expect(entity.destinationEntityName.map { new.entitiesByName[$0]?.versionHash == entity.destinationEntityVersionHash } ?? false)
            for property in entity.attributeMappings ?? [] where entity.sourceEntityName != nil {
                let isKnown = old.entitiesByName[entity.sourceEntityName!]?.attributesByName[property.name!] != nil
                #expect(!isKnown || property.valueExpression?.description == "$source.\(property.name!)")
            }
        }
        if from == 2 {
            #expect(mapping.entityMappings.map(\.name) == ["MoodToMood", "CountryToCountry", "ContinentToContinent"])
            let moods = mapping.entityMappingsByName["ContinentToContinent"]?.relationshipMappings?.first { $0.name == "moods" }
            #expect(moods?.valueExpression?.description
                == "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"MoodToMood\", $source.countries.@distinctUnionOfSets.moods)")
        }
        if from == 4 {
            let continent = mapping.entityMappingsByName["CountryToCountry"]?.attributeMappings?.first { $0.name == "isoContinent" }
            #expect(continent?.valueExpression?.description == "$source.continent.numericISO3166Code")
        }
        if from == 5 {
            #expect(mapping.entityMappingsByName["CountryToCountry"]?.entityMigrationPolicyClassName == "Migrations.Country5ToCountry6Policy")
            #expect(mapping.entityMappings[0].mappingType == .addEntityMappingType && mapping.entityMappings[0].name == "Continent")
        }
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
        func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = context.make(entity)
            for attribute in model.entitiesByName[entity]!.attributesByName.values where !attribute.isOptional {
                let value: Any = switch attribute.attributeType {
                case .dateAttributeType: Date(timeIntervalSinceReferenceDate: 1)
                case .stringAttributeType: "-"
                case .binaryDataAttributeType: Data([1])
                case .transformableAttributeType: ["red"] as NSArray
                default: 0
                }
                if object.value(forKey: attribute.name) == nil { object.setValue(value, forKey: attribute.name) }
            }
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let continent = make("Continent", ["numericISO3166Code": 10_001])
        for code in [276, 250] {
            let country = make("Country", ["numericISO3166Code": code, "continent": continent])
            for number in 0..<3 { _ = make("Mood", ["country": country, "latitude": Double(code), "longitude": Double(number)]) }
        }
    }

    private func count(_ entity: String, _ context: NSManagedObjectContext) throws -> Int {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    @Test(.enabled(if: isThere, "../shared/models is absent"))
    func `A store goes through all mapping models`() throws {
        let chain = try Chain()
        try chain.with(try Self.model(2), options: nil) { try fill($0) }
        var url = chain.url
        for from in 2...5 {
            let manager = NSMigrationManager(sourceModel: try Self.model(from), destinationModel: try Self.model(from + 1))
            let next = chain.scratch["v\(from + 1)"]
            try manager.migrateStore(from: url, type: .recordLog, mapping: try Self.mapping(from), to: next, type: .recordLog)
            url = next
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: manager.destinationModel)
            let store = try coordinator.addPersistentStore(type: .recordLog, at: url)
            let context = coordinator.newContext()
            #expect(try count("Mood", context) == 6 && count("Country", context) == 2)
            let mood = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mood")).first)
            let country = try #require(mood.value(forKey: "country") as? NSManagedObject)
            #expect(
                (country.value(forKey: "moods") as? NSSet)?.count == 3
                    && country.value(forKey: "numericISO3166Code") as? Double == mood.value(forKey: "latitude") as? Double)
            switch from {
            case 2:
                let continent = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Continent")).first)
                #expect(
                    (continent.value(forKey: "moods") as? NSSet)?.count == 6 && mood.value(forKey: "continent") as? NSManagedObject === continent)
            case 4: #expect(country.value(forKey: "isoContinent") as? Int == 10_001)
            case 5: #expect((country.value(forKey: "continent") as? NSManagedObject)?.value(forKey: "numericISO3166Code") as? Int == 10_001)
            default: break
            }
            try coordinator.remove(store)
        }
    }

    @Test(.enabled(if: isThere, "../shared/models is absent"))
    func `The mapping model of two versions is found`() throws {
        let finder = MappingFinder(directories: [Self.folder])
        for from in 2...5 {
            let found = try #require(finder.document(from: try Self.model(from), to: try Self.model(from + 1)))
            #expect(found.sourcePath?.hasSuffix("Moody \(from).xcdatamodel") == true)
        }
        #expect(finder.document(from: try Self.model(2), to: try Self.model(4)) == nil)
        // Without the models' files the entities identify the mapping model.
        let scratch = try ScratchDirectory()
        try FileManager.default.copyItem(
            at: Self.folder.appendingPathComponent("Moody 4-Moody 5.xcmappingmodel"), to: scratch["a.xcmappingmodel"])
        let alone = MappingFinder(directories: [scratch.directory])
        #expect(alone.document(from: try Self.model(4), to: try Self.model(5)) == nil, "it leaves out an entity")
        try FileManager.default.copyItem(
            at: Self.folder.appendingPathComponent("Moody 3-Moody 4.xcmappingmodel"), to: scratch["b.xcmappingmodel"])
        #expect(alone.document(from: try Self.model(3), to: try Self.model(4)) != nil)
        let unknown = try NSMappingModel.load(contentsOf: scratch["b.xcmappingmodel"])
        #expect(unknown.entityMappings[0].attributeMappings?[0].valueExpression == nil)
        unknown.complete(from: try Self.model(3), to: try Self.model(4))
        #expect(unknown.entityMappings[0].attributeMappings?[0].valueExpression != nil)
    }

    @Test
    func `A file that is not a mapping model is refused with the reason`() throws {
        let scratch = try ScratchDirectory()
        func error(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
            try Data(text.utf8).write(to: scratch["xcmapping.xml"])
            #expect(NSMappingModel(contentsOf: scratch["xcmapping.xml"]) == nil, sourceLocation: sourceLocation)
            let error = #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
                try NSMappingModel.load(contentsOf: scratch["xcmapping.xml"])
            }
            return (error as NSError?)?.localizedDescription ?? ""
        }
        #expect(try error("<database><object").contains("not well-formed"))
        #expect(try error("<database></database>").contains("holds no mapping model"))
        #expect(try error("<!DOCTYPE database [<!ENTITY a \"b\">]><database></database>").contains("declares XML entities"))
        let entity = "<object type=\"XDDEVMAPPINGMODEL\" id=\"z1\"><relationship name=\"entitymappings\" idrefs=\"z2\"/></object><object type=\"XDDEVENTITYMAPPING\" id=\"z2\">"
        #expect(
            try error("<database>\(entity)<attribute name=\"sourceexpressiondata\">AAAA</attribute></object></database>").contains("the source of"))
        #expect(NSMappingModel(contentsOf: scratch["none"]) == nil && NSMappingModel(contentsOf: nil) == nil)
    }
}
