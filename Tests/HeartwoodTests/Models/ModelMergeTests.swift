import Foundation
import Testing

@testable import Heartwood

@Suite struct ModelMergeTests {
    private func model(_ entities: [String: [String]], version: String? = nil) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities.sorted { $0.key < $1.key }.map { name, attributes in
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes.map { TestStack.attribute($0, .stringAttributeType) }
            return entity
        }
        if let version { model.versionIdentifiers = [version] }
        return model
    }

    private func metadata(_ model: NSManagedObjectModel, configuration: String? = nil) throws -> [String: Any] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        return try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: configuration, at: nil).metadata
    }

    @Test
    func `Merging models takes equal entities once`() throws {
        let first = model(["A": ["x"], "B": ["y"]], version: "1"), second = model(["B": ["y"], "C": ["z"]], version: "2")
        first.setEntities([first.entities[0]], forConfigurationName: "Part")
        second.setEntities([second.entities[1]], forConfigurationName: "Part")
        let x = try #require(first.entitiesByName["A"]?.attributesByName["x"])
        x.setValidationPredicates([NSPredicate(format: "SELF != 'bad'")], withValidationWarnings: ["no"])
        first.setFetchRequestTemplate(NSFetchRequest<any NSFetchRequestResult>(entityName: "A"), forName: "all")
        let merged = try #require(NSManagedObjectModel(byMerging: [first, second]))
        #expect(merged.entities.map(\.name) == ["A", "B", "C"] && merged.versionIdentifiers == ["1", "2"])
        #expect(merged.entities(forConfigurationName: "Part")?.map(\.name) == ["A", "C"])
        #expect(merged.entitiesByName["A"]?.attributesByName["x"]?.validationPredicates.count == 1)
        #expect(merged.fetchRequestTemplate(forName: "all")?.entity === merged.entitiesByName["A"])
        #expect(merged.entitiesByName["B"]?.versionHash == second.entitiesByName["B"]?.versionHash)
        #expect(first.entitiesByName["A"] !== merged.entitiesByName["A"], "the models are as they were")
        let whole = TestStack.model()
        let alone = try #require(NSManagedObjectModel(byMerging: [whole, TestStack.model()]))
        #expect(alone.versionChecksum == whole.versionChecksum)
        #expect(NSManagedObjectModel(byMerging: []) == nil && NSManagedObjectModel(byMerging: nil) == nil)
    }

    @Test
    func `Different entities of one name are refused`() async {
        let error = #expect(throws: (any Error).self) {
            try ModelMerge(models: [model(["A": ["x", "y"]]), model(["A": ["x", "z"]])]).merge(into: nil)
        }
        #expect(code(error) == NSPersistentStoreIncompatibleSchemaError)
        #expect(error?.localizedDescription.contains("two different entities named A; they differ in y, z") == true)
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let models = ["x", "y"].map { name in
                let model = NSManagedObjectModel(), entity = NSEntityDescription()
                entity.name = "A"
                entity.properties = [TestStack.attribute(name, .stringAttributeType)]
                model.entities = [entity]
                return model
            }
            _ = NSManagedObjectModel(byMerging: models)
        }
        #if DEBUG
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("two different entities named A"))
        #endif
    }

    @Test
    func `The model of a store is found among versions`() throws {
        let old = model(["A": ["x"]]), new = model(["A": ["x", "y"]]), other = model(["B": ["z"]])
        let ofOld = try metadata(model(["A": ["x"]]))
        #expect(NSManagedObjectModel(byMerging: [new, old, other], forStoreMetadata: ofOld)?.versionChecksum == old.versionChecksum)
        #expect(NSManagedObjectModel(byMerging: [new, other], forStoreMetadata: ofOld) == nil)
        // The metadata of a store with two models.
        let ofBoth = try metadata(model(["A": ["x"], "B": ["z"]]))
        let both = try #require(NSManagedObjectModel(byMerging: [new, old, other], forStoreMetadata: ofBoth))
        #expect(both.entities.map(\.name).sorted { $0! < $1! } == ["A", "B"] && both.isConfiguration(
            withName: nil, compatibleWithStoreMetadata: ofBoth))
        // The metadata of a store with one configuration.
        let configured = { () -> NSManagedObjectModel in
            let model = self.model(["A": ["x"], "B": ["z"]])
            model.setEntities([model.entities[1]], forConfigurationName: "C")
            return model
        }
        let ofC = try metadata(configured(), configuration: "C")
        #expect(NSManagedObjectModel(byMerging: [old, configured()], forStoreMetadata: ofC)?.configurations == ["C"])
        #expect(NSManagedObjectModel(byMerging: [old], forStoreMetadata: [:]) == nil)
    }

    @Test
    func `A bundle's models are merged and its versions found`() throws {
        let scratch = try ScratchDirectory()
        func write(_ path: String, _ entity: String, _ attributes: [String]) throws {
            let url = scratch["App.bundle/" + path]
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let lines = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }.joined()
            try "<?xml version=\"1.0\"?><model><entity name=\"\(entity)\">\(lines)</entity></model>".write(
                to: url.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        try write("One.xcdatamodeld/One.xcdatamodel", "A", ["x"])
        try write("One.xcdatamodeld/One 2.xcdatamodel", "A", ["x", "y"])
        try write("Two.xcdatamodel", "B", ["z"])
        let current = try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "One 2.xcdatamodel"], format: .xml, options: 0)
        try current.write(to: scratch["App.bundle/One.xcdatamodeld/.xccurrentversion"])
        let bundle = try #require(Bundle(url: scratch["App.bundle"]))
        let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
        #expect(merged.entitiesByName["A"]?.attributesByName.keys.sorted() == ["x", "y"] && merged.entitiesByName["B"] != nil)
        let ofOld = try metadata(model(["A": ["x"]]))
        let found = try #require(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: ofOld))
        #expect(found.entitiesByName["A"]?.attributesByName.keys.sorted() == ["x"] && found.entities.count == 1)
        #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: [NSStoreModelVersionHashesKey: ["Z": Data([1])]]) == nil)
        let empty = try ScratchDirectory()
        #expect(NSManagedObjectModel.mergedModel(from: [try #require(Bundle(url: empty.directory))]) == nil)
    }

    @Test
    func `The order of properties makes no difference between entities`() throws {
        let merged = try ModelMerge(models: [model(["A": ["x", "y"]]), model(["A": ["y", "x"]])]).merge(into: nil)
        #expect(merged.entitiesByName["A"]?.properties.map(\.name) == ["x", "y"])
    }

    @Test
    func `A copy has the properties that no file has`() throws {
        let defaults: [(type: NSAttributeType, value: NSObject)] = [
            (.transformableAttributeType, ["a"] as NSArray), (.undefinedAttributeType, NSNumber(value: 1)),
            (.decimalAttributeType, NSDecimalNumber.notANumber), (.integer16AttributeType, NSNumber(value: 70_000)),
        ]
        let model = NSManagedObjectModel(), entity = NSEntityDescription(), composite = NSCompositeAttributeDescription()
        composite.name = "composite"
        composite.elements = [TestStack.attribute("element", .stringAttributeType)]
        composite.elements[0].setValidationPredicates([NSPredicate(format: "SELF BEGINSWITH 'a'")], withValidationWarnings: ["starts with a"])
        entity.name = "E"
        entity.properties = [composite] + defaults.enumerated().map { number, stated in
            let attribute = TestStack.attribute("a\(number)", stated.type, default: stated.value)
            attribute.isTransient = stated.type == .undefinedAttributeType
            return attribute
        }
        entity.uniquenessConstraints = [["composite.element"]]
        entity.userInfo = ["text": "x", "list": [1], 7: "seven"]
        composite.userInfo = ["number": 3]
        model.entities = [entity]
        model.versionIdentifiers = ["two", 2]
        for made in [model.copy() as? NSManagedObjectModel, NSManagedObjectModel(byMerging: [model])] {
            let twin = try #require(made?.entitiesByName["E"])
            for (number, stated) in defaults.enumerated() {
                #expect(twin.attributesByName["a\(number)"]?.defaultValue as? NSObject == stated.value)
            }
            let copied = twin.attributesByName["composite"] as? NSCompositeAttributeDescription
            #expect(copied?.elements.first?.validationWarnings as? [String] == ["starts with a"] && copied?.userInfo?["number"] as? Int == 3)
            #expect(twin.userInfo?.count == 3 && twin.userInfo?["list"] as? [Int] == [1] && made?.versionIdentifiers == ["two", 2])
            #expect(twin.uniquenessConstraints as? [[String]] == [["composite.element"]])
        }
        // The store's own description still counts.
        entity.attributesByName["a3"]?.defaultValue = nil
        let stack = try TestStack(.recordLog, model: model)
        #expect(try StoredModel.read(at: stack.url).entitiesByName["E"]?.userInfo as? [String: String] == ["text": "x"])
    }

    /// A class that a model names without its module is also looked for in modules that make models, not only in those that make requests.
    @Test
    func `The module that makes a model is noted`() throws {
        let scratch = try ScratchDirectory(), bundle = try #require(Bundle(url: scratch.directory))
        _ = NSManagedObjectModel(byMerging: [TestStack.model()], fileID: "ModuleOne/File.swift")
        _ = NSManagedObjectModel(byMerging: [TestStack.model()], forStoreMetadata: [:], fileID: "ModuleTwo/File.swift")
        _ = NSManagedObjectModel.mergedModel(from: [bundle], fileID: "ModuleThree/File.swift")
        _ = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: [:], fileID: "ModuleFour/File.swift")
        #expect(throws: (any Error).self) { try NSManagedObjectModel.load(contentsOf: scratch["none"], fileID: "ModuleFive/File.swift") }
        #expect(NSManagedObjectModel(contentsOf: scratch["none"], fileID: "ModuleSix/File.swift") == nil)
        for module in ["One", "Two", "Three", "Four", "Five", "Six"] { #expect(ManagedObjectClasses.modules.contains("Module" + module)) }
        let calls: [([Bundle]?) -> NSManagedObjectModel?] = [NSManagedObjectModel.mergedModel(from:)]
        #expect(calls[0]([bundle]) == nil, "the method as a function")
    }
}
