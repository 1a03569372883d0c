import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// A class that no model names.
final class Unmodelled: NSManagedObject {}

/// A class of the entity "Pet".
final class Pet: NSManagedObject {}

@MainActor struct ModelQuestions {
    @Test(.reference("nsmanagedobjectmodel/entitiesbyname"))
    func `An entity is found by its name, and says its model`() {
        let model = Sketch.library()
        #expect(model.entitiesByName["Book"]?.name == "Book" && model.entitiesByName["Book"]?.managedObjectModel === model)
        #expect(model.entitiesByName.keys.sorted() == ["Author", "Book", "Chapter", "Novel", "Tag"] && model.entities.count == 5)
    }

    @Test(.guide("Creating a Managed Object Model", "Entity Inheritance"))
    func `A sub-entity has its parent's properties and its own`() throws {
        let model = Sketch.library(), novel = try #require(model.entitiesByName["Novel"]), book = try #require(model.entitiesByName["Book"])
        #expect(novel.propertiesByName["title"] != nil && novel.attributesByName["genre"] != nil && book.attributesByName["genre"] == nil)
        #expect(novel.superentity === book && book.subentitiesByName["Novel"] === novel && book.superentity == nil)
    }

    @Test(.header("NSEntityDescription", "isKindOfEntity:"))
    func `isKindOf(entity:) follows the hierarchy`() throws {
        let model = Sketch.library(), novel = try #require(model.entitiesByName["Novel"]), book = try #require(model.entitiesByName["Book"])
        #expect(novel.isKindOf(entity: book) && novel.isKindOf(entity: novel) && !book.isKindOf(entity: novel))
    }

    @Test(.header("NSEntityDescription", "attributesByName, relationshipsByName"))
    func `An entity sorts its properties by kind`() throws {
        let model = Sketch.library(), author = try #require(model.entitiesByName["Author"])
        let book = try #require(model.entitiesByName["Book"])
        #expect(author.attributesByName.keys.sorted() == ["born", "name"] && author.relationshipsByName.keys.sorted() == ["books"])
        #expect(author.relationships(forDestination: book).map(\.name) == ["books"])
        #expect(author.relationshipsByName["books"]?.inverseRelationship?.name == "author")
    }

    @Test(.reference("nsentitydescription/managedobjectclassname"))
    func `A new entity's class is NSManagedObject`() {
        #expect(NSEntityDescription().managedObjectClassName == "NSManagedObject" && !NSEntityDescription().isAbstract)
    }

    @Test(.reference("nspropertydescription"))
    func `A new property is optional and not transient`() {
        let attribute = NSAttributeDescription()
        #expect(attribute.isOptional && !attribute.isTransient && attribute.defaultValue == nil)
        #expect(attribute.attributeType == .undefinedAttributeType)
        #expect(!attribute.allowsExternalBinaryDataStorage && !attribute.preservesValueInHistoryOnDeletion)
    }

    @Test(.reference("nsrelationshipdescription/deleterule"))
    func `A new relationship nullifies`() {
        #expect(NSRelationshipDescription().deleteRule == .nullifyDeleteRule && !NSRelationshipDescription().isOrdered)
    }

    @Test(.header("NSRelationshipDescription", "NSDeleteRule"))
    func `The numbers of the delete rules are the documented ones`() {
        let rules: [NSDeleteRule] = [.noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule]
        #expect(rules.map { Int($0.rawValue) } == [0, 1, 2, 3])
    }

    @Test(.header("NSAttributeDescription", "NSAttributeType"))
    func `The numbers of the attribute types are the documented ones`() {
        let types: [NSAttributeType] = [
            .undefinedAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType, .stringAttributeType, .booleanAttributeType, .dateAttributeType,
            .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType, .transformableAttributeType, .objectIDAttributeType,
        ]
        #expect(types.map { Int($0.rawValue) } == [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800, 2000])
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A15)"))
    func `A new description's user info is an empty dictionary`() {
        #expect(NSEntityDescription().userInfo?.isEmpty == true && NSAttributeDescription().userInfo?.isEmpty == true)
    }

    @Test(.reference("nspropertydescription/renamingidentifier"))
    func `A property that was not renamed has its name for a renaming identifier`() {
        let attribute = Sketch.attribute("name"), entity = Sketch.entity("Item", [attribute])
        #expect(attribute.renamingIdentifier == "name" && entity.renamingIdentifier == "Item")
    }

    @Test(.source("Measured by a public app's tests for Apple's platforms (parity A23)"))
    func `Two models of the same content are equal`() {
        #expect(Sketch.library() == Sketch.library() && Sketch.library() != Sketch.items())
        #expect(Sketch.library().hash == Sketch.library().hash && Sketch.attribute("a") == Sketch.attribute("a"))
        #expect(Sketch.attribute("a") != Sketch.attribute("b"))
    }

    @Test(.header("NSManagedObjectModel", "models are editable until they are used"))
    func `A copy of a model that is in use may be changed`() throws {
        let model = Sketch.library(), stack = try Stack(.inMemory, model)
        try stack.saved("Book")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        copy.entitiesByName["Author"]?.properties += [Sketch.attribute("nickname")]
        #expect(copy.entitiesByName["Author"]?.attributesByName["nickname"] != nil)
        #expect(model.entitiesByName["Author"]?.attributesByName["nickname"] == nil)
    }

    @Test(.header("NSManagedObjectModel", "attempts to mutate a model in use"))
    func `A model that is in use must not be changed: the program ends`() async {
        await #expect(processExitsWith: .failure) {
            try await MainActor.run {
                let model = Sketch.library(), stack = try Stack(.inMemory, model)
                try stack.saved("Book")
                model.entitiesByName["Book"]?.name = "Tome"
            }
        }
    }

    @Test(.header("NSManagedObjectModel", "modelByMergingModels:"))
    func `A model merges others`() throws {
        let merged = try #require(NSManagedObjectModel(byMerging: [Sketch.items(), Sketch.model(Sketch.entity("Other", []))]))
        #expect(merged.entitiesByName.keys.sorted() == ["Item", "Other"])
    }

    @Test(.header("NSManagedObjectModel", "modelByMergingModels:forStoreMetadata:"))
    func `A model is found among others by a store's metadata`() throws {
        let stack = try Stack(.database, Sketch.items())
        try stack.saved("Item")
        let metadata = stack.coordinator.metadata(for: stack.store)
        let found = NSManagedObjectModel(byMerging: [Sketch.library(), Sketch.items()], forStoreMetadata: metadata)
        #expect(found?.entitiesByName["Item"] != nil)
        #expect(NSManagedObjectModel(byMerging: [Sketch.library()], forStoreMetadata: metadata) == nil)
    }

    @Test(.reference("nsmanagedobjectmodel/setentities(_:forconfigurationname:)"))
    func `A configuration has the entities that it is given`() throws {
        let model = Sketch.library()
        model.setEntities([try #require(model.entitiesByName["Tag"])], forConfigurationName: "tags")
        #expect(model.configurations.contains("tags") && model.entities(forConfigurationName: "tags")?.map(\.name) == ["Tag"])
        #expect(model.entities(forConfigurationName: "nothing") == nil)
    }

    /// A change of a description, and whether the entity's version hash changes too.
    struct HashChange: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let follows: Bool
        let change: @Sendable (NSEntityDescription, NSAttributeDescription) -> Void

        init(_ what: String, _ follows: Bool, _ change: @escaping @Sendable (NSEntityDescription, NSAttributeDescription) -> Void) {
            (testDescription, self.follows, self.change) = (what, follows, change)
        }

        static let all = [
            HashChange("the entity's name", true) { entity, _ in entity.name = "Thing" },
            HashChange("being abstract", true) { entity, _ in entity.isAbstract = true },
            HashChange("the entity's hash modifier", true) { entity, _ in entity.versionHashModifier = "2" },
            HashChange("the attribute's name", true) { $1.name = "title" },
            HashChange("the attribute's type", true) { $1.attributeType = .integer16AttributeType },
            HashChange("being optional", true) { $1.isOptional = false },
            HashChange("being transient", true) { $1.isTransient = true },
            HashChange("the attribute's hash modifier", true) { $1.versionHashModifier = "2" },
            HashChange("another attribute", true) { entity, _ in entity.properties += [Sketch.attribute("more")] },
            HashChange("the class", false) { entity, _ in entity.managedObjectClassName = "Other" },
            HashChange("the user info", false) { entity, _ in entity.userInfo = ["a": "b"] },
            HashChange("the attribute's user info", false) { $1.userInfo = ["a": "b"] },
            HashChange("a default value", false) { $1.defaultValue = "x" },
            HashChange("a validation predicate", false) {
                $1.setValidationPredicates([NSPredicate(format: "length < 9")], withValidationWarnings: ["long"])
            },
            HashChange("a renaming identifier", false) { $1.renamingIdentifier = "was" },
        ]
    }

    @Test(.header("NSEntityDescription", "versionHash; NSPropertyDescription.h: versionHash"), arguments: HashChange.all)
    func `An entity's version hash follows what affects its storage, and nothing else`(change: HashChange) {
        func hash(_ isChanged: Bool) -> Data {
            let attribute = Sketch.attribute("name"), entity = Sketch.entity("Item", [attribute])
            if isChanged { change.change(entity, attribute) }
            return Sketch.model(entity).entities[0].versionHash
        }
        #expect((hash(false) != hash(true)) == change.follows)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A14)"))
    func `entity() of a class that no model names has no name`() {
        #expect(Unmodelled.entity().name == nil)
    }

    @Test(.header("NSManagedObject", "initWithContext:, entity"))
    func `init(context:) and entity() find the entity of a class`() throws {
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Pet", [Sketch.attribute("name")], of: Pet.self)))
        let pet = Pet(context: stack.context)
        #expect(pet.isInserted && pet.entity.name == "Pet" && pet.managedObjectContext === stack.context)
        try stack.context.save()
        #expect(try stack.fetch("Pet").first is Pet)
    }

    @Test(.reference("nsmanagedobject/init(entity:insertinto:)"))
    func `NSManagedObject(entity:insertInto:) gives an object of the entity's class`() throws {
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Pet", [], of: Pet.self)))
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Pet", in: stack.context))
        let object: NSManagedObject = NSManagedObject(entity: entity, insertInto: stack.context)
        #expect(object is Pet)
    }

    @Test(.reference("nsmanagedobject/fetchrequest()"))
    func `A class's fetchRequest() is untyped, so dictionaries can be asked of it`() throws {
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Pet", [Sketch.attribute("name")], of: Pet.self)))
        stack.new("Pet", ["name": "a"])
        try stack.context.save()
        let request = Pet.fetchRequest() as NSFetchRequest<any NSFetchRequestResult>
        (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["name"])
        #expect(try stack.context.fetch(request).first is NSDictionary)
    }

    @Test(.source("Measured on Apple's platforms (parity A5)"))
    func `A stored attribute without a type is refused, or its value is kept`() throws {
        let item = Sketch.entity("Item", [Sketch.attribute("what", .undefinedAttributeType)])
        guard let stack = try? Stack(.inMemory, Sketch.model(item)) else { return }
        try stack.saved("Item", ["what": "x"])
        let read = try stack.only("Item", in: stack.sibling())
        #expect(read.text("what") == "x")
    }

    @Test(.header("NSManagedObjectModel", "versionIdentifiers"))
    func `Version identifiers are what a program says, and merge`() throws {
        let one = Sketch.items(), other = Sketch.model(Sketch.entity("Other", []))
        (one.versionIdentifiers, other.versionIdentifiers) = (["1"], ["2"])
        #expect(NSManagedObjectModel(byMerging: [one, other])?.versionIdentifiers == ["1", "2"])
    }

    @Test(.reference("nsmanagedobjectmodel/versionchecksum"))
    func `Two models of the same content have one checksum, others another`() {
        #expect(Sketch.items().versionChecksum == Sketch.items().versionChecksum && !Sketch.items().versionChecksum.isEmpty)
        #expect(Sketch.items().versionChecksum != Sketch.items([Sketch.attribute("new")]).versionChecksum)
    }
}
