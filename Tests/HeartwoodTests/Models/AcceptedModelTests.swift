import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Models, store descriptions and classes that Core Data accepts.
@Suite struct AcceptedModelTests {
    private static func contents(_ attribute: String) -> Data {
        Data(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Site" representedClassName="NSManagedObject">\(attribute)</entity>
            </model>
            """.utf8)
    }

    private static func defaultValue(_ text: String, _ type: String) throws -> NSNumber? {
        let xml = contents("<attribute name=\"a\" attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
        let model = try ModelBuilder(try ModelFileParser(data: xml, path: "contents").parse()).build(into: nil)
        return model.entities[0].attributesByName["a"]?.defaultValue as? NSNumber
    }

    @Test
    func `A default value's text that was left by another type counts as the number that it begins with, else as 0`() throws {
        for type in ["Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Decimal"] {
            #expect(try Self.defaultValue("NO", type) == 0, "\(type)")
            #expect(try Self.defaultValue("YES", type) == 0, "\(type)")
            #expect(try Self.defaultValue("", type) == 0, "\(type)")
            #expect(try Self.defaultValue("12", type) == 12, "\(type)")
            #expect(try Self.defaultValue("0.0", type) == 0, "\(type)")
        }
        #expect(try Self.defaultValue("1.5", "Integer 32") == 1 && Self.defaultValue("1.5", "Double") == 1.5)
        for (text, number) in [("12abc", 12), ("1,5", 1), ("0x10", 0), ("inf", 0)] {
            #expect(try Self.defaultValue(text, "Decimal") == NSNumber(value: number), "\(text)")
        }
        for (text, flag) in [("YES", true), ("NO", false), ("1", true), ("0", false), ("0.0", false), ("2", true), ("", false), ("maybe", false)] {
            #expect(try Self.defaultValue(text, "Boolean") == NSNumber(value: flag), "\(text)")
        }
        // A number that its type cannot hold is refused.
        #expect(throws: (any Error).self) { try Self.defaultValue("99999", "Integer 16") }
    }

    @Test
    func `Senseless parts that Xcode compiles are left out with a warning`() throws {
        let model = try ModelTests.load(
            """
            <entity name="Artist"><relationship name="thumbnail" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Image" inverseName="thumbnail" inverseEntity="Image"/></entity>
            <entity name="Image"><attribute name="id" optional="YES" attributeType="UUID" defaultValueString="empty"/>
              <relationship name="artist" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Artist" inverseName="thumbnail" inverseEntity="Artist"/>
              <relationship name="thumbnail" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Artist" inverseName="thumbnail" inverseEntity="Artist"/>
            </entity>
            """)
        let image = try #require(model.entitiesByName["Image"]), artist = try #require(model.entitiesByName["Artist"])
        #expect(image.attributesByName["id"]?.defaultValue == nil && image.relationshipsByName["artist"]?.inverseRelationship == nil)
        #expect(image.relationshipsByName["thumbnail"]?.inverseRelationship === artist.relationshipsByName["thumbnail"])
        #expect(artist.relationshipsByName["thumbnail"]?.inverseRelationship === image.relationshipsByName["thumbnail"])
        #expect(model.warnings.map(\.element) == ["Image.id", "Image.artist"])
        let stack = try TestStack(.inMemory, model: model)
        let one = stack.insert("Artist", [:]), other = stack.insert("Artist", [:])
        let picture = stack.insert("Image", ["artist": one, "thumbnail": other])
        try stack.context.save()
        #expect(other.value(forKey: "thumbnail") as? NSManagedObject === picture && one.value(forKey: "thumbnail") == nil)
    }

    @Test
    func `User info is empty at first, and changes while the model is in use`() throws {
        let model = TestStack.model()
        let entity = try #require(model.entitiesByName["Person"]), attribute = try #require(entity.attributesByName["name"])
        #expect(entity.userInfo?.isEmpty == true && attribute.userInfo?.isEmpty == true)
        attribute.userInfo?["unit"] = "cm"
        let stack = try TestStack(.inMemory, model: model)
        entity.userInfo = ["seen": true]
        attribute.userInfo?["more"] = 1
        #expect(stack.coordinator.managedObjectModel.entitiesByName["Person"]?.userInfo?["seen"] as? Bool == true)
        #expect(attribute.userInfo?["unit"] as? String == "cm" && attribute.userInfo?.count == 2)
    }

    @Test
    func `A configuration that is given an entity holds those that inherit from it`() throws {
        let model = TestStack.model()
        let person = try #require(model.entitiesByName["Person"]), group = try #require(model.entitiesByName["Group"])
        model.setEntities([person, group], forConfigurationName: "People")
        #expect(model.entities(forConfigurationName: "People")?.compactMap(\.name) == ["Person", "Group", "Employee"])
    }

    @Test
    func `A class that no model names has an entity without a name`() {
        final class Nowhere: NSManagedObject {}
        #expect(Nowhere.entity().name == nil && NSManagedObject.entity().name == nil)
    }

    @Test
    @MainActor func `A description without a URL, and a URL below /dev/null, mean a store in memory`() throws {
        #expect(NSPersistentStoreDescription().url?.absoluteString == "file:///dev/null")
        for url in [nil, URL(fileURLWithPath: "/dev/null/Some.sqlite")] {
            let container = NSPersistentContainer(name: "Bare", managedObjectModel: TestStack.model())
            let description = NSPersistentStoreDescription()
            if let url { description.url = url }
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: container.viewContext)
            person.setValue("Ada", forKey: "name")
            try container.viewContext.save()
            #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A required to-many relationship without a least count may be empty`(kind: StoreKind) throws {
        let model = TestStack.model()
        let tags = try #require(model.entitiesByName["Person"]?.relationshipsByName["tags"])
        tags.isOptional = false
        let stack = try TestStack(kind, model: model)
        let person = stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        let tag = stack.insert("Tag", ["label": "a"])
        person.setValue(NSSet(object: tag), forKey: "tags")
        try stack.context.save()
        person.setValue(NSSet(), forKey: "tags")
        try stack.context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `A required to-many relationship with a least count may not be empty`(kind: StoreKind) throws {
        let model = TestStack.model()
        let tags = try #require(model.entitiesByName["Person"]?.relationshipsByName["tags"])
        tags.isOptional = false
        tags.minCount = 1
        let stack = try TestStack(kind, model: model)
        stack.insert("Person", ["name": "Ada"])
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        #expect(error?.code == NSValidationRelationshipLacksMinimumCountError)
    }

    @Test(arguments: StoreKind.allCases)
    func `A key's first letter may be a capital, as in an accessor's name`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", [:])
        person.setValue("Ada", forKey: "Name")
        person.setValue(36, forKey: "Age")
        person.setValuesForKeys(["Email": "a@b.c"])
        #expect(person.value(forKey: "Name") as? String == "Ada" && person.value(forKey: "age") as? Int == 36)
        #expect(person.value(forKeyPath: "Email") as? String == "a@b.c")
        try stack.context.save()
        #expect(try stack.names() == ["Ada"])
    }

    @Test
    func `Arguments of a predicate's format that no placeholder takes are ignored`() {
        #expect(NSPredicate(format: "name CONTAINS[c] '%@'", "milk").predicateFormat == "name CONTAINS[c] \"%@\"")
        #expect(NSPredicate(format: "a == %@", argumentArray: [1, 2]).predicateFormat == "a == 1")
        #expect(NSPredicate(format: "a == 1", argumentArray: ["x"]).predicateFormat == "a == 1")
        // The format is parsed once; a later call's arguments still count.
        #expect(NSPredicate(format: "a == %@", argumentArray: [3, 4]).predicateFormat == "a == 3")
    }

    @Test(arguments: StoreKind.allCases)
    func `A list with an empty array of sort descriptors performs its fetch`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for name in ["b", "a"] { stack.insert("Person", ["name": name]) }
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = []
        let list = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
        try list.performFetch()
        #expect(list.fetchedObjects?.count == 2 && list.sections?.count == 1)
        stack.insert("Person", ["name": "c"])
        try list.performFetch()
        #expect(list.fetchedObjects?.count == 3)
        request.sortDescriptors = nil
        let none = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
        #expect(throws: (any Error).self) { try none.performFetch() }
    }

    @Test
    func `A migration that is cancelled before it begins throws, and the next one runs`() throws {
        struct Stop: Error {}
        let stack = try TestStack(.recordLog)
        stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        let model = stack.coordinator.managedObjectModel
        let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        defer { try? FileManager.default.removeItem(at: target) }
        manager.cancelMigrationWithError(Stop())
        func migrate() throws {
            try manager.migrateStore(
                from: stack.url, sourceType: NSRecordLogStoreType, options: nil, with: mapping, toDestinationURL: target,
                destinationType: NSRecordLogStoreType, destinationOptions: nil)
        }
        #expect(throws: Stop.self) { try migrate() }
        try migrate()
        #expect(FileManager.default.fileExists(atPath: target.path))
    }
}
