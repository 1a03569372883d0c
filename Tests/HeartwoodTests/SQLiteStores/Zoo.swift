import Foundation
import Testing

@testable import Heartwood

/// A small store in Core Data's layout, as SQL, and its model.
struct Zoo {
    static let identifier = "0E3A5B8C-1F2D-4C6B-9A7E-5D4C3B2A1908"
    let file: URL
    let model: NSManagedObjectModel

    /// - Parameter sql: statements to run after those that make the store.
    init(in folder: URL, _ sql: String = "", name: String = "Zoo.sqlite") throws {
        file = folder.appendingPathComponent(name)
        model = Self.model()
        try CoreDataStoreFiles.execute(Self.sql + sql, at: file)
    }

    func coordinator() throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: file)
        return coordinator
    }

    func context() throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = try coordinator()
        return context
    }

    /// The numbers of the entities: Animal 1, Cat 2, Dog 3, Keeper 4, Note 5.
    static let sql = """
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        INSERT INTO Z_METADATA VALUES (1, '\(identifier)', NULL);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Animal', 0, 9), (2, 'Cat', 1, 0), (3, 'Dog', 1, 0), (4, 'Keeper', 0, 9), (5, 'Note', 0, 9);
        CREATE TABLE ZANIMAL (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZKEEPER INTEGER, Z_FOK_KEEPER INTEGER, ZNAME VARCHAR,
            ZTITLE VARCHAR, ZTITLE1 INTEGER);
        CREATE TABLE ZKEEPER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBEST INTEGER, Z1_BEST INTEGER, ZAGE INTEGER, ZBIG INTEGER,
            ZDONE INTEGER, ZSHORT INTEGER, ZPRICE DECIMAL, ZRATIO FLOAT, ZSCORE FLOAT, ZSINCE TIMESTAMP, ZLINK VARCHAR, ZNAME VARCHAR, ZTOKEN BLOB,
            ZBYTES BLOB, ZIMAGE BLOB, ZCITY VARCHAR);
        CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z4NOTES INTEGER, Z_FOK_4NOTES INTEGER, ZTEXT VARCHAR);
        CREATE TABLE Z_4FRIENDS (Z_4FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_4FRIENDS, REFLEXIVE));
        CREATE TABLE Z_1HELPERS (Z_1HELPED INTEGER, Z_4HELPERS INTEGER, Z_FOK_1HELPED INTEGER, PRIMARY KEY (Z_1HELPED, Z_4HELPERS));
        CREATE INDEX Z_1HELPERS_Z_4HELPERS_INDEX ON Z_1HELPERS (Z_4HELPERS, Z_1HELPED);
        CREATE INDEX ZANIMAL_ZKEEPER_INDEX ON ZANIMAL (ZKEEPER);
        CREATE INDEX ZANIMAL_Z_ENT_INDEX ON ZANIMAL (Z_ENT);
        INSERT INTO ZANIMAL VALUES (1, 1, 1, 1, 3072, 'Ant', NULL, NULL), (2, 2, 4, 1, 1024, 'Tom', 'Sir', 99), (3, 3, 2, 1, 2048, 'Rex', 'x', 7),
            (4, 3, 1, NULL, NULL, 'Ida', NULL, 8), (5, 2, 1, 2, 1024, NULL, NULL, NULL);
        INSERT INTO ZKEEPER VALUES
            (1, 4, 1, 3, 3, 30, 9007199254740993, 1, -5, 3.25, 0.5, 1.5, 100.25, 'https://a.b/c', 'Ann',
                X'\(uuidBytes)', X'0102', X'01CAFE', 'Ulm'),
            (2, 4, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            (3, 4, 1, 5, 2, 0, 0, 0, 0, 0, 0, 0, 0, '', '', NULL, X'', X'01', ''),
            (7, 4, 1, 77, 3, -1, -9223372036854775808, 1, 32767, '12.5', 2, 1e300, -63114076800, 'x:y', 'ann', NULL, X'01', NULL, 'Äpfel');
        INSERT INTO ZNOTE VALUES (1, 5, 1, 1, 20, 'two'), (2, 5, 1, 1, 10, 'one'), (3, 5, 1, NULL, NULL, 'none'), (4, 5, 1, 3, 5, NULL);
        INSERT INTO Z_4FRIENDS VALUES (1, 2), (2, 1), (1, 3), (7, 7);
        INSERT INTO Z_1HELPERS VALUES (2, 1, 30), (3, 1, 10), (4, 1, 20), (2, 3, 1), (88, 3, 2);

        """

    private static let uuidBytes = "00112233445566778899AABBCCDDEEFF"
    static let uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")

    static func model() -> NSManagedObjectModel {
        let animal = NSEntityDescription(), cat = NSEntityDescription(), dog = NSEntityDescription()
        let keeper = NSEntityDescription(), note = NSEntityDescription()
        for (entity, name) in [(animal, "Animal"), (cat, "Cat"), (dog, "Dog"), (keeper, "Keeper"), (note, "Note")] { entity.name = name }
        animal.subentities = [cat, dog]
        let owner = TestStack.relationship("keeper", to: keeper, toMany: false)
        let animals = TestStack.relationship("animals", to: animal, toMany: true, ordered: true)
        let helpers = TestStack.relationship("helpers", to: keeper, toMany: true)
        let helped = TestStack.relationship("helped", to: animal, toMany: true, ordered: true)
        let friends = TestStack.relationship("friends", to: keeper, toMany: true)
        TestStack.connect(owner, animals)
        TestStack.connect(helpers, helped)
        friends.inverseRelationship = friends
        animal.properties = [TestStack.attribute("name", .stringAttributeType), owner, helpers]
        cat.properties = [TestStack.attribute("title", .stringAttributeType)]
        dog.properties = [TestStack.attribute("title", .integer32AttributeType)]
        note.properties = [TestStack.attribute("text", .stringAttributeType)]
        let image = TestStack.attribute("image", .binaryDataAttributeType), home = NSCompositeAttributeDescription()
        image.allowsExternalBinaryDataStorage = true
        home.name = "home"
        home.isOptional = true
        home.elements = [TestStack.attribute("city", .stringAttributeType)]
        let types: [(String, NSAttributeType)] = [
            ("age", .integer32AttributeType), ("big", .integer64AttributeType), ("done", .booleanAttributeType), ("short", .integer16AttributeType),
            ("price", .decimalAttributeType), ("ratio", .floatAttributeType), ("score", .doubleAttributeType), ("since", .dateAttributeType),
            ("link", .URIAttributeType), ("name", .stringAttributeType), ("token", .UUIDAttributeType), ("bytes", .binaryDataAttributeType),
        ]
        keeper.properties = types.map { TestStack.attribute($0.0, $0.1) } + [
            image, home, animals, helped, friends, TestStack.relationship("best", to: animal, toMany: false),
            TestStack.relationship("notes", to: note, toMany: true, ordered: true),
        ]
        let model = NSManagedObjectModel()
        model.entities = [note, keeper, dog, cat, animal]
        return model
    }
}
