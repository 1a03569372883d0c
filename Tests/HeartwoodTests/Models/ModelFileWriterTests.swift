import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// Models as Xcode's source, written and read again.
@Suite struct ModelFileWriterTests {
    /// Compares a model with what comes back, but for the classes: a source names one for each entity.
    private static func check(_ model: NSManagedObjectModel, _ name: String) throws {
        let scratch = try ScratchDirectory(), url = scratch["Model.xcdatamodeld"]
        try ModelFileWriter.write(model, to: url)
        let read = try NSManagedObjectModel.load(contentsOf: url)
        let (before, after) = (document(model), document(read))
        for (one, other) in zip(before.entities, after.entities) { #expect(one == other, "\(name) \(one.name)") }
        #expect(before == after, "\(name)")
        #expect(read.entityVersionHashesByName == model.entityVersionHashesByName, "\(name)")
        for entity in read.entities {
            #expect(entity.managedObjectClassName?.contains(".") == false && entity.managedObjectClassName != "NSManagedObject", "\(name)")
        }
    }

    /// A model's statements in a fixed order, without those that a source cannot have.
    private static func document(_ model: NSManagedObjectModel) -> ModelDocument {
        var document = ModelDocument(model)
        document.entities.sort { $0.name < $1.name }
        for index in document.entities.indices {
            document.entities[index].className = nil
            document.entities[index].attributes = document.entities[index].attributes.map(normalized).sorted { $0.name < $1.name }
            document.entities[index].relationships.sort { $0.name < $1.name }
            for fetched in document.entities[index].fetchedProperties?.indices ?? 0..<0 {
                document.entities[index].fetchedProperties?[fetched].request?.sort = nil
            }
        }
        document.configurations = document.configurations?.filter { $0.key != NSManagedObjectModel.defaultConfigurationName }
        if document.configurations?.isEmpty == true { document.configurations = nil }
        for index in document.fetchRequests?.indices ?? 0..<0 { document.fetchRequests?[index].sort = nil }
        return document
    }

    /// A number's default is one text, whether a model keeps it as an integer or as a double.
    private static func normalized(_ attribute: ModelDocument.Attribute) -> ModelDocument.Attribute {
        var attribute = attribute
        if [500, 600].contains(attribute.type), let number = attribute.defaultValue.flatMap(Double.init) { attribute.defaultValue = "\(number)" }
        attribute.elements = attribute.elements?.map(normalized)
        return attribute
    }

    @Test
    func `Each statement comes back: types, defaults, limits, inheritance, relationships, indexes, constraints, requests, notes`() throws {
        try Self.check(TestStack.model(), "test model")
        try Self.check(Zoo.model(), "zoo")
        let model = TestStack.model(), person = try #require(model.entitiesByName["Person"])
        person.userInfo = ["a & b": "<\"line\">\n\tnext", "empty": ""]
        person.versionHashModifier = "2"
        person.renamingIdentifier = "Human"
        let age = try #require(person.attributesByName["age"]), name = try #require(person.attributesByName["name"])
        age.rules = ValidationRules(minimum: 0, maximum: 120.5)
        name.rules = ValidationRules(minimum: 1, maximum: 30, pattern: "[A-Z]\\w*")
        (name.isOptional, name.defaultValue, name.renamingIdentifier) = (false, "Ann & \"Bob\"", "title")
        name.preservesValueInHistoryOnDeletion = true
        name.userInfo = ["note": "é 日本"]
        person.attributesByName["birthday"]?.defaultValue = Date(timeIntervalSinceReferenceDate: -0.5)
        person.attributesByName["email"]?.isTransient = true
        person.uniquenessConstraints = [["name", "birthday"]]
        let values: [String: Any] = [
            "int16": -1, "int64": Int64.max, "double": 0.1, "float": 1.5, "decimal": NSDecimalNumber(string: "1.25"), "string": " ", "bool": true,
            "data": Data([0, 255]), "uuid": UUID(), "uri": URL(string: "a:b") as Any,
        ]
        for (key, value) in values { model.entitiesByName["Everything"]?.attributesByName[key]?.defaultValue = value }
        person.indexes.append(TestStack.index(
            "part", [("age", false), ("length:(name)", true)], among: person.propertiesByName, where: "age > 3 AND name != \"a&b\""))
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == $NAME")
        (request.fetchLimit, request.includesSubentities) = (3, false)
        model.setFetchRequestTemplate(request, forName: "named")
        let fetched = NSFetchedPropertyDescription()
        fetched.name = "namesakes"
        fetched.fetchRequest = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        fetched.fetchRequest?.predicate = NSPredicate(format: "name == $FETCH_SOURCE.name")
        person.properties += [fetched]
        model.setEntities([try #require(model.entitiesByName["Tag"])], forConfigurationName: "Tags")
        model.versionIdentifiers = ["1.2"]
        try Self.check(model, "changed")
    }

    @Test
    func `Composites within composites come back, each under a name of its own`() throws {
        let inner = NSCompositeAttributeDescription(), outer = NSCompositeAttributeDescription(), entity = NSEntityDescription()
        inner.name = "place"
        inner.elements = [TestStack.attribute("x", .doubleAttributeType, default: 1), TestStack.attribute("y", .doubleAttributeType)]
        (outer.name, outer.elements) = ("home", [TestStack.attribute("city", .stringAttributeType), inner])
        let other = try #require(outer.copy() as? NSCompositeAttributeDescription)
        other.name = "work"
        (entity.name, entity.properties) = ("Person", [outer, other])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        try Self.check(model, "composites")
    }

    @Test(.enabled( if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython))
    func `The models of made stores come back, and open their stores in place`() throws {
        try CoreDataStoreFiles.withMadeStores { stores in
            for made in stores where try made.refusal() == nil && made.doubt() == nil {
                let found = try CoreDataStoreModel.find(storeAt: made.store.path)
                try Self.check(found.model, made.name)
                let source = made.folder.appendingPathComponent("\(made.name).xcdatamodeld")
                try ModelFileWriter.write(found.model, to: source)
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel.load(contentsOf: source))
                #expect(throws: Never.self, "\(made.name)") {
                    try coordinator.addPersistentStore(type: .sqlite, configuration: found.configuration, at: made.store)
                }
            }
        }
    }

    @Test(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)"))
    func `The models of real stores come back`() throws {
        var count = 0
        for folder in try FileManager.default.contentsOfDirectory(atPath: SharedStores.folder.path).sorted() {
            guard let name = try? SharedStores.expected(folder).first?["store"] as? String else { continue }
            let path = SharedStores.folder.appendingPathComponent(folder).appendingPathComponent(name).path
            try Self.check(try CoreDataStoreModel.find(storeAt: path).model, folder)
            count += 1
        }
        #expect(count >= 15)
    }

    @Test
    func `Numbers are scalars in code where nil is none of their values`() throws {
        let entity = NSEntityDescription(), model = NSManagedObjectModel()
        entity.name = "Thing"
        entity.properties = [
            TestStack.attribute("must", .integer32AttributeType, optional: false), TestStack.attribute("may", .integer32AttributeType),
            TestStack.attribute("zero", .integer32AttributeType, default: 0), TestStack.attribute("text", .stringAttributeType),
        ]
        model.entities = [entity]
        let lines = ModelFileWriter.contents(model).split(separator: "\n")
        func line(_ name: String) -> Substring { lines.first { $0.contains("<attribute name=\"\(name)\"") } ?? "" }
        #expect(line("must").contains("usesScalarValueType=\"YES\"") && line("zero").contains("usesScalarValueType=\"YES\""))
        #expect(line("may").contains("usesScalarValueType=\"NO\"") && !line("text").contains("usesScalarValueType"))
        let thing = lines.first { $0.contains("<entity name=\"Thing\" representedClassName=\"Thing\"") }
        #expect(thing?.contains("codeGenerationType=\"class\"") == true)
    }

    @Test
    func `A folder that is there is left as it is`() throws {
        let scratch = try ScratchDirectory(), url = scratch["Model.xcdatamodeld"]
        try ModelFileWriter.write(Zoo.model(), to: url)
        let before = scratch.contents
        #expect(throws: (any Error).self) { try ModelFileWriter.write(TestStack.model(), to: url) }
        #expect(scratch.contents == before)
        #expect(throws: (any Error).self) { try ModelFileWriter.write(Zoo.model(), to: scratch["none/Model.xcdatamodeld"]) }
    }
}
