import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Found by its name without a module: the compiled mapping model names a module that does not exist.
final class V2to3MakerPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let name = sInstance.value(forKey: "maker") as? String,
            let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
        request.predicate = NSPredicate(format: "name == %@", name)
        let known = try manager.destinationContext.fetch(request).first
        let maker = known ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
        maker.setValue(name, forKey: "name")
        car.setValue(maker, forKey: "createdBy")
    }
}

/// Compiled mapping models: one of Xcode's, and others in its layout.
@Suite struct CompiledMappingTests {
    private static func read(_ bytes: [UInt8]) throws -> MappingDocument { try CompiledMappingReader(bytes, path: "A.cdm").read() }

    private static func models() throws -> (old: NSManagedObjectModel, new: NSManagedObjectModel) {
        let old = Sketch("A: name:string age:int16 mates>>A/mates\nB: title:string").model
        let new = Sketch("A: name:string age:int16 mates>>A/mates\nC: title:string\nB: title:string").model
        return (old, new)
    }

    /// In the editor's form: with the properties of an added entity.
    private static func inferred() throws -> NSMappingModel {
        let (old, new) = try models(), mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let title = NSPropertyMapping()
        title.name = "title"
        mapping.entityMappings.first { $0.destinationEntityName == "C" }?.attributeMappings = [title]
        return mapping
    }

    /// With mappings that inference never writes as well.
    private static func mapping() throws -> NSMappingModel {
        let mapping = try inferred()
        let first = try #require(mapping.entityMappings.first { $0.sourceEntityName == "A" })
        first.mappingType = .customEntityMappingType
        first.entityMigrationPolicyClassName = "Module.Policy"
        first.userInfo = ["key": "value"]
        first.attributeMappings?.first { $0.name == "age" }?.valueExpression = nil
        first.attributeMappings?.first { $0.name == "name" }?.valueExpression = NSExpression(
            format: "FUNCTION($entityPolicy, \"name:\", $source.name)")
        first.attributeMappings?.first { $0.name == "name" }?.userInfo = ["a": "b"]
        return mapping
    }

    @Test
    func `A compiled mapping model equals the mapping model, and a property without an expression keeps its default`() throws {
        let mapping = try Self.mapping(), scratch = try ScratchDirectory()
        try Data(CompiledMappingWriter.bytes(mapping)).write(to: scratch["Any.cdm"])
        let found = try #require(NSMappingModel(contentsOf: scratch["Any.cdm"]))
        #expect(found.text == mapping.text)
        let first = found.entityMappingsByName[mapping.entityMappings.first { $0.sourceEntityName == "A" }!.name]
        #expect(first?.userInfo as? [String: String] == ["key": "value"] && first?.mappingType == .customEntityMappingType)
        #expect(first?.attributeMappings?.first { $0.name == "name" }?.userInfo as? [String: String] == ["a": "b"])
        let (old, new) = try Self.models()
        found.complete(from: old, to: new)
        #expect(found.text == mapping.text && first?.sourceEntityVersionHash == old.entitiesByName["A"]?.versionHash)
        #expect(first?.attributeMappings?.first { $0.name == "age" }?.valueExpression == nil)
    }

    @Test
    func `Core Data's hashes identify the versions of a compiled mapping model`() throws {
        let (old, new) = try Self.models(), mapping = try Self.mapping(), scratch = try ScratchDirectory()
        let bundle = scratch["Model.momd"]
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        func theirs(_ entity: String, _ version: String) -> Data { Data("\(entity) of \(version)".utf8) }
        var versions: [String: [String: Data]] = [:]
        for (name, model) in [("Old", old), ("New", new)] {
            try Data(CompiledModelWriter.bytes(model)).write(to: bundle.appendingPathComponent("\(name).mom"))
            versions[name] = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name!, theirs($0.name!, name)) })
        }
        let info: [String: Any] = ["NSManagedObjectModel_CurrentVersionName": "New", "NSManagedObjectModel_VersionHashes": versions]
        try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0).write(
            to: bundle.appendingPathComponent("VersionInfo.plist"))
        func write(_ name: String, _ source: String, _ destination: String) throws {
            try Data(CompiledMappingWriter.bytes(mapping) { theirs($0, $1 ? source : destination) }).write(to: scratch[name])
        }
        // All have the entities and properties of the models.
        try write("A.cdm", "Older", "New")
        try write("B.cdm", "Old", "New")
        try write("C.cdm", "Old", "Newer")
        let before = try NSManagedObjectModel.load(contentsOf: bundle.appendingPathComponent("Old.mom"))
        #expect(before.entityVersionHashesByName == old.entityVersionHashesByName)
        #expect(try before.coreDataHashes[#require(old.entitiesByName["A"])] == [theirs("A", "Old")])
        let finder = MappingFinder(directories: [scratch.directory])
        let found = try #require(finder.document(from: old, to: new))
        #expect(found.entities.allSatisfy { $0.sourceHash == nil || $0.sourceHash == theirs($0.source!, "Old") })
        #expect(found.entities.allSatisfy { $0.destinationHash == nil || $0.destinationHash == theirs($0.destination!, "New") })
        try FileManager.default.removeItem(at: scratch["B.cdm"])
        #expect(finder.document(from: old, to: new) == nil)
        // Models that were loaded, merged and copied are found without the bundle in the folder.
        let loaded = try NSManagedObjectModel.load(contentsOf: bundle)
        try write("B.cdm", "Old", "New")
        try FileManager.default.removeItem(at: bundle)
        #expect(MappingFinder(directories: [scratch.directory]).document(from: old, to: new) == nil, "three fit")
        let merged = try #require(NSManagedObjectModel(byMerging: [loaded]))
        #expect(finder.document(from: before.copy() as! NSManagedObjectModel, to: merged) != nil)
    }

    @Test
    func `Without hashes the only compiled mapping model that has the models' entities and properties is taken`() throws {
        let (old, new) = try Self.models(), scratch = try ScratchDirectory(), finder = MappingFinder(directories: [scratch.directory])
        let inferred = try Self.inferred()
        try Data(CompiledMappingWriter.bytes(inferred)).write(to: scratch["A.cdm"])
        #expect(finder.document(from: old, to: new) != nil && finder.document(from: new, to: old) == nil)
        #expect(NSMappingModel(directories: [scratch.directory], old, new)?.entityMappings.count == 3)
        // A mapping model that leaves out a property belongs to other versions.
        let fewer = try Self.inferred()
        let first = try #require(fewer.entityMappings.first { $0.sourceEntityName == "A" })
        first.attributeMappings?.removeAll { $0.name == "age" }
        try Data(CompiledMappingWriter.bytes(fewer)).write(to: scratch["B.cdm"])
        #expect(finder.document(from: old, to: new)?.entities.first { $0.source == "A" }?.attributes.count == 2)
        try Data(CompiledMappingWriter.bytes(try Self.mapping())).write(to: scratch["C.cdm"])
        #expect(finder.document(from: old, to: new) == nil, "two fit")
    }

    @Test
    func `A damaged or truncated mapping model is refused with the reason`() throws {
        func reason(_ bytes: [UInt8]) -> String {
            let error = #expect(throws: (any Error).self) { try Self.read(bytes) } as? NSError
            #expect(error?.domain == NSCocoaErrorDomain)
            return error?.localizedDescription ?? ""
        }
        #expect(reason([]).hasPrefix("A.cdm"))
        #expect(reason(CompiledModelWriter.bytes(try Self.models().old)).contains("holds an archived NSManagedObjectModel, not a mapping model"))
        var archive = ArchiveWriter()
        let mapping = archive.object("NSEntityMapping", [("NSMappingType", .integer(9))])
        let list = archive.array([mapping]), root = archive.object("NSMappingModel", [("NSEntityMappings", list)])
        #expect(reason(archive.finish(root: root)).contains("unknown type"))
        let bytes = CompiledMappingWriter.bytes(try Self.mapping()), seed = UInt64.random(in: 1...UInt64.max)
        var generator = SeededGenerator(seed: seed), refused = 0
        print("damaged compiled mapping models: seed \(seed)")
        for round in 0..<600 {
            let damaged = generator.damaged(bytes, isCut: round % 4 == 0)
            do {
                _ = try Self.read(damaged).entityMappings(from: nil, to: nil)
            } catch {
                refused += 1
                #expect(
                    (error as NSError).domain == NSCocoaErrorDomain && (error as NSError).localizedDescription.hasPrefix("A.cdm"),
                    "\(error), seed \(seed)")
            }
        }
        #expect(refused > 150, "seed \(seed)")
    }

    // MARK: Xcode's

    private static let folder = ModelTests.shared.deletingLastPathComponent().appendingPathComponent(
        "stores/cdplus-sample1-v1/model/Tests/Resources/SampleModel")
    static let isThere = FileManager.default.fileExists(atPath: folder.path)
    private static let fixtures = folder.appendingPathComponent("Fixtures")

    private static func compiled(_ name: String) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.load(contentsOf: fixtures.appendingPathComponent("SampleModel.momd/\(name).mom"))
    }

    @Test(.enabled( if: isThere, "../shared/stores is absent"))
    func `A file of Xcode's says what its editor shows, and migrates a store`() throws {
        let mapping = try NSMappingModel.load(contentsOf: Self.fixtures.appendingPathComponent("V2toV3.cdm"))
        #expect(mapping.entityMappings.compactMap(\.name) == ["CarToCar", "LuxuryCarToLuxuryCar", "PersonToPerson", "SportCarToSportCar", "Maker"])
        #expect(mapping.entityMappingsByName["CarToCar"]?.sourceExpression?.description
            == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Car\", \"TRUEPREDICATE\"), $manager.sourceContext, 0)")
        let chain = try Chain(), old = try Self.compiled("SampleModel2"), new = try Self.compiled("SampleModel3")
        try chain.with(old, options: nil) { context in
            let owner = context.make("Person")
            owner.setValue("Ada", forKey: "firstName")
            owner.setValue("Lovelace", forKey: "lastName")
            owner.setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "updatedAt")
            for (entity, number) in [("Car", "1"), ("SportCar", "2"), ("LuxuryCar", "3")] {
                let car = context.make(entity)
                for (key, value) in ["maker": "Fiat", "model": "500", "numberPlate": number] { car.setValue(value, forKey: key) }
                car.setValue(owner, forKey: "owner")
            }
        }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        try manager.migrateStore(from: chain.url, type: .recordLog, mapping: mapping, to: chain.scratch["v3"], type: .recordLog)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        try coordinator.addPersistentStore(type: .recordLog, at: chain.scratch["v3"])
        let context = coordinator.newContext()
        let makers = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Maker"))
        #expect(makers.map { $0.value(forKey: "name") as? String } == ["Fiat"] && (makers[0].value(forKey: "cars") as? NSSet)?.count == 3)
        let person = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        #expect(person.value(forKey: "lastName") as? String == "Lovelace" && (person.value(forKey: "cars") as? NSSet)?.count == 3)
    }

    @Test(.enabled( if: isThere, "../shared/stores is absent"))
    func `It is found by the hashes of compiled models, and by names without them`() throws {
        let versions = try (1...3).map { try Self.compiled("SampleModel\($0 == 1 ? "" : "\($0)")") }
        let finder = MappingFinder(directories: [Self.fixtures])
        #expect(finder.document(from: versions[1], to: versions[2]) != nil)
        #expect(finder.document(from: versions[0], to: versions[2]) == nil && finder.document(from: versions[0], to: versions[1]) == nil)
        let sources = try (2...3).map {
            try NSManagedObjectModel.load(contentsOf: Self.folder.appendingPathComponent("SampleModel.xcdatamodeld/SampleModel\($0).xcdatamodel"))
        }
        // The bundle beside it has these versions as well; without it only their names identify them.
        #expect(finder.document(from: sources[0], to: sources[1]) != nil)
        let scratch = try ScratchDirectory()
        try FileManager.default.copyItem(at: Self.fixtures.appendingPathComponent("V2toV3.cdm"), to: scratch["V2toV3.cdm"])
        let alone = MappingFinder(directories: [scratch.directory])
        #expect(alone.document(from: sources[0], to: sources[1]) != nil && alone.document(from: sources[1], to: sources[0]) == nil)
    }
}
