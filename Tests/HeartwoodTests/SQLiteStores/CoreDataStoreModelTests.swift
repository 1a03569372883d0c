import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct CoreDataStoreModelTests {
    /// A model's source with versions, by name.
    private static func write(_ versions: [String: String], to folder: URL) throws -> URL {
        let source = folder.appendingPathComponent("Zoo.xcdatamodeld")
        for (name, entities) in versions {
            let version = source.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            let text = "<?xml version=\"1.0\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">\(entities)</model>"
            try Data(text.utf8).write(to: version.appendingPathComponent("contents"))
        }
        return source
    }

    private static func books(_ columns: String) -> String {
        """
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        INSERT INTO Z_METADATA VALUES (1, 'B', NULL);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Book', 0, 1);
        CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(columns));
        """
    }

    private static func book(_ attributes: [String: String]) -> String {
        let list = attributes.sorted { $0.key < $1.key }.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"\($1)\"/>" }
        return "<entity name=\"Book\">\(list.joined())</entity>"
    }

    @Test
    func `Of a model's source the version is taken whose tables are the store's`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let store = folder.appendingPathComponent("B.sqlite")
            try CoreDataStoreFiles.execute(Self.books("ZTITLE VARCHAR, ZPAGES INTEGER"), at: store)
            let source = try Self.write([
                "1": Self.book(["title": "String"]), "2": Self.book(["title": "String", "pages": "Integer 16"]),
                "3": Self.book(["title": "String", "pages": "Integer 16", "year": "Integer 16"]),
            ], to: folder)
            let found = try CoreDataStoreModel.find(storeAt: store.path, given: source)
            #expect(found.origin == .source(source.appendingPathComponent("2.xcdatamodel")) && found.guesses == [])
            #expect(Set(found.model.entitiesByName["Book"]?.attributesByName.keys.map { $0 } ?? []) == ["title", "pages"])
            try FileManager.default.removeItem(at: source.appendingPathComponent("2.xcdatamodel"))
            let error = #expect(throws: (any Error).self) { try CoreDataStoreModel.find(storeAt: store.path, given: source) } as NSError?
            #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
            #expect(error?.localizedDescription.contains("1: the column ZBOOK.ZPAGES is of no property") == true)
            #expect(error?.localizedDescription.contains("3: ") == true && error?.localizedDescription.contains("ZYEAR") == true)
        }
    }

    @Test
    func `Of versions with the same tables one is taken, and that is said`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let store = folder.appendingPathComponent("B.sqlite")
            try CoreDataStoreFiles.execute(Self.books("ZPAGES INTEGER"), at: store)
            let source = try Self.write(["1": Self.book(["pages": "Integer 16"]), "2": Self.book(["pages": "Integer 32"])], to: folder)
            let found = try CoreDataStoreModel.find(storeAt: store.path, given: source)
            #expect(found.guesses.count == 1 && found.guesses[0].contains("1, 2"))
        }
    }

    @Test
    func `From the tables alone come entities, columns with their types, and relationships; the rest is said to be guessed`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), found = try CoreDataStoreModel.find(storeAt: zoo.file.path)
            #expect(found.origin == .schema && found.guesses.first?.contains("spelling") == true)
            #expect(found.guessReason == "\(zoo.file.path): has no model cache; give the model's file.")
            let entities = found.model.entitiesByName
            #expect(Set(entities.keys) == ["Animal", "Cat", "Dog", "Keeper", "Note"] && entities["Cat"]?.superentity?.name == "Animal")
            let keeper = try #require(entities["Keeper"]), animal = try #require(entities["Animal"])
            #expect(keeper.attributesByName["since"]?.attributeType == .dateAttributeType)
            #expect(keeper.attributesByName["price"]?.attributeType == .decimalAttributeType)
            #expect(keeper.attributesByName["bytes"]?.attributeType == .binaryDataAttributeType)
            #expect(animal.relationshipsByName["keeper"]?.destinationEntity === keeper)
            #expect(keeper.relationshipsByName["best"]?.destinationEntity === animal)
            #expect(animal.relationshipsByName["helpers"]?.inverseRelationship === keeper.relationshipsByName["helped"])
            #expect(keeper.relationshipsByName["helped"]?.isOrdered == true && keeper.relationshipsByName["notes"]?.isOrdered == true)
            let friends = keeper.relationshipsByName["friends"]
            #expect(friends?.inverseRelationship === friends && friends?.isToMany == true)
            // The store opens with it.
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
            try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: zoo.file)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            let request = NSFetchRequest<NSManagedObject>(entityName: "Keeper")
            request.predicate = NSPredicate(format: "age == 30")
            let ann = try #require(try context.fetch(request).first)
            #expect((ann.value(forKey: "friends") as? NSSet)?.count == 2 && (ann.value(forKey: "notes") as? NSOrderedSet)?.count == 2)
        }
    }

    @Test
    func `A model other than the store's is refused with the entities that differ`() throws {
        try CoreDataStoreFiles.withMadeStore("to-one") { made in
            let file = made.store
            let right = try CoreDataStoreModel.find(storeAt: file.path)
            #expect(right.origin == .cache && right.guesses == [] && right.guessReason == nil)
            let other = try #require(right.model.copy() as? NSManagedObjectModel)
            let entity = try #require(other.entities.first { !$0.attributesByName.isEmpty })
            let attribute = try #require(entity.attributesByName.values.first)
            attribute.isOptional.toggle()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
            let error = #expect(throws: (any Error).self) {
                try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: file)
            } as NSError?
            #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
            #expect((error?.userInfo[NSChangedEntitiesErrorKey] as? [String])?.contains(entity.name ?? "") == true)
            #expect(error?.localizedDescription.contains("heartwood convert") == true)
            // A container asks for migrations.
            let container = NSPersistentContainer(name: "Other", managedObjectModel: other), description = NSPersistentStoreDescription(url: file)
            description.type = NSSQLiteStoreType
            container.persistentStoreDescriptions = [description]
            container.loadPersistentStores { _, error in
                #expect(error.map { CoreDataError.isCode(NSPersistentStoreIncompatibleVersionHashError, $0) } == true)
            }
            try coordinator.addPersistentStore(
                type: .sqlite, configuration: nil, at: file, options: [NSIgnorePersistentStoreVersioningOption: true])
        }
    }
}
