import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

@Suite struct SQLiteExportTests {
    private static let long = String(repeating: "länge ", count: 4000)

    /// The values of each type: nothing, empty, short, long, and the ends of the range.
    private static var values: [(type: NSAttributeType, list: [Any?])] { [
        (.integer16AttributeType, [nil, 0, 1, -1, Int(Int16.min), Int(Int16.max)]),
        (.integer32AttributeType, [nil, 0, 1, -129, Int(Int32.min), Int(Int32.max)]),
        (.integer64AttributeType, [nil, 0, 1, 1 << 24, Int.min, Int.max]),
        (.booleanAttributeType, [nil, false, true]),
        (.doubleAttributeType, [nil, 0.0, 1.0, -2.5, 1e300, Double.leastNonzeroMagnitude, 4_503_599_627_370_497.0, Double.infinity]),
        (.floatAttributeType, [nil, Float(0), Float(1), Float(0.1), Float.greatestFiniteMagnitude]),
        (.decimalAttributeType, [nil, "0", "1", "-12.5", "0.1", "123456789.123456", "1e20"].map { $0.map { NSDecimalNumber(string: $0) } }),
        (.stringAttributeType, [nil, "", "a", "naïve 🌲", long]),
        (.dateAttributeType, [0.0, 1, -0.25, 1e9 + 0.125, -63_113_904_000].map { Date(timeIntervalSinceReferenceDate: $0) } as [Any?] + [nil]),
        (.binaryDataAttributeType, [nil, Data(), Data([0]), Data(repeating: 7, count: 100_000)]),
        (.UUIDAttributeType, ["00000000-0000-0000-0000-000000000000", "00112233-4455-6677-8899-AABBCCDDEEFF"].map(UUID.init) + [nil]),
        (.URIAttributeType, [nil, URL(string: "x:y"), URL(string: "https://example.org/" + String(repeating: "p/", count: 3000))]),
        (.transformableAttributeType, [nil, ["a", "b"] as NSArray, "text" as NSString]),
    ] }

    private static func entity(_ name: String, _ types: [NSAttributeType], external: Bool = false) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = [TestStack.attribute("order", .integer32AttributeType)] + types.enumerated().map { index, type in
            let attribute = TestStack.attribute("v\(index)", type)
            attribute.allowsExternalBinaryDataStorage = external
            return attribute
        }
        return entity
    }

    private static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    /// An entity of two types, with the values that its objects have in turn.
    private struct Pair {
        let entity: NSEntityDescription
        let lists: [[Any?]]
        var count: Int { lists.map(\.count).max() ?? 0 }
    }

    /// Each type beside each other, and those of large values also outside of the rows.
    private static func pairs() -> [Pair] {
        let values = values
        return values.flatMap { first in
            values.flatMap { second in
                let types = [first.type, second.type]
                let isLarge = types.allSatisfy { [.binaryDataAttributeType, .transformableAttributeType].contains($0) }
                return (isLarge ? [false, true] : [false]).map { external in
                    let name = "\(external ? "External" : "Pair")\(first.type.rawValue)x\(second.type.rawValue)"
                    return Pair(entity: entity(name, types, external: external), lists: [first.list, second.list])
                }
            }
        }
    }

    private static func isEqual(_ left: Any?, _ right: Any?) -> Bool {
        guard let left = left as? NSObject, let right = right as? NSObject else { return (left == nil) == (right == nil) }
        return left.isEqual(right)
    }

    @Test(arguments: [StoreKind.recordLog, .inMemory, .binary])
    func `Values of each type beside each other come back, in the rows or outside of them`(kind: StoreKind) throws {
        // One store has all pairs: making a store and its file costs more than the objects.
        let pairs = Self.pairs(), stack = try TestStack(kind, model: Self.model(pairs.map(\.entity)))
        for pair in pairs {
            for index in 0..<pair.count {
                let object = stack.insert(pair.entity.name ?? "", ["order": index])
                for (property, list) in pair.lists.enumerated() { object.setValue(list[index % list.count], forKey: "v\(property)") }
            }
        }
        try stack.context.save()
        try ExportedStore.with(stack.persistentStore) { exported in
            let context = try exported.context(stack.coordinator.managedObjectModel)
            for pair in pairs { try check(pair, in: context) }
            try exported.check()
        }
    }

    private func check(_ pair: Pair, in context: NSManagedObjectContext) throws {
        let name = pair.entity.name ?? "", request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.sortDescriptors = [NSSortDescriptor(key: "order", ascending: true)]
        let found = try context.fetch(request)
        #expect(found.count == pair.count, "\(name)")
        for (index, object) in found.enumerated() {
            for (property, list) in pair.lists.enumerated() {
                let value = object.value(forKey: "v\(property)"), expected = list[index % list.count]
                #expect(Self.isEqual(value, expected), "\(name).v\(property) \(index): \(value ?? "nil") \(expected ?? "nil")")
            }
        }
    }

    @Test
    func `A store without objects has its tables`() throws {
        let stack = try TestStack(.inMemory)
        try ExportedStore.with(stack.persistentStore) { exported in
            try exported.check()
            let context = try exported.context(stack.coordinator.managedObjectModel)
            for entity in stack.coordinator.managedObjectModel.entities where !entity.isAbstract {
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")) == 0)
            }
        }
    }

    @Test
    func `Objects keep their URIs and versions, the store its identifier and the app's metadata`() throws {
        let stack = try TestStack(.recordLog, model: Self.model([Self.entity("Thing", [.stringAttributeType])]))
        let objects = (0..<5).map { stack.insert("Thing", ["order": $0]) }
        try stack.context.save()
        stack.context.delete(objects[0])
        objects[1].setValue("changed", forKey: "v0")
        stack.coordinator.setMetadata(["App": "key", NSStoreUUIDKey: stack.persistentStore.identifier ?? ""], for: stack.persistentStore)
        try stack.context.save()
        try ExportedStore.with(stack.persistentStore) { exported in
            let context = try exported.context(stack.coordinator.managedObjectModel)
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            #expect(store.identifier == stack.persistentStore.identifier)
            #expect(store.metadata["App"] as? String == "key")
            for object in objects.dropFirst() {
                let uri = object.objectID.uriRepresentation()
                let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
                #expect(try context.existingObject(with: id).value(forKey: "order") as? Int == object.value(forKey: "order") as? Int)
            }
            #expect(exported.summary.renumbered.isEmpty)
            if let rows = try exported.rows("select Z_PK, Z_ENT, Z_OPT, ZORDER from ZTHING") {
                #expect(rows == "[2, 1, 2, 1]\n[3, 1, 1, 2]\n[4, 1, 1, 3]\n[5, 1, 1, 4]\n")
                #expect(try exported.rows("select * from Z_PRIMARYKEY") == "[1, 'Thing', 0, 5]\n")
            }
        }
    }

    @Test
    func `A place that is taken is refused, and what is there stays`() throws {
        let stack = try TestStack(.inMemory)
        try CoreDataStoreFiles.withFolder { folder in
            let file = folder.appendingPathComponent("Taken.sqlite")
            for name in ["Taken.sqlite", "Taken.sqlite-wal", "Taken.sqlite-journal"] {
                let place = folder.appendingPathComponent(name)
                try Data("x".utf8).write(to: place)
                #expect(throws: (any Error).self) { try SQLiteStoreExport(stack.persistentStore, .plain).write(to: file) }
                #expect(try Data(contentsOf: place) == Data("x".utf8))
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
                try FileManager.default.removeItem(at: place)
            }
            let nowhere = folder.appendingPathComponent("none/Store.sqlite")
            #expect(throws: (any Error).self) { try SQLiteStoreExport(stack.persistentStore, .plain).write(to: nowhere) }
        }
    }

    @Test(arguments: ["attributes-types", "composites"])
    func `A store of Core Data's with the same model gives its version hashes and its model cache`(name: String) throws {
        let golden = try #require(try CoreDataStoreFiles.goldens().first { $0.name == name })
        let model = try CoreDataStoreModel.find(storeAt: golden.store.path).model
        // Only the entities count: this copy knows no hashes.
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        copy.coreDataHashes = CoreDataHashes()
        let stack = try TestStack(.inMemory, model: copy)
        let original = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: golden.store)
        try ExportedStore.with(stack.persistentStore) { exported in
            #expect(!exported.summary.hasVersion && !exported.summary.hasModelCache)
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: exported.file)
            #expect(metadata[NSStoreModelVersionHashesKey] == nil && metadata["NSPersistenceFrameworkVersion"] as? Int == 866)
            #expect(try CoreDataStoreModel.find(storeAt: exported.file.path).origin == .written)
        }
        try ExportedStore.with(stack.persistentStore, .coreData(version: golden.store)) { exported in
            #expect(exported.summary.hasVersion && exported.summary.hasModelCache)
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: exported.file)
            for key in CoreDataFileMetadata.versionKeys { #expect(Self.isEqual(metadata[key], original[key]), "\(key)") }
            #expect(try CoreDataStoreModel.find(storeAt: exported.file.path).origin == .cache)
        }
    }

    @Test
    func `A store or a model of another version is refused, and the source of a model too`() throws {
        let stack = try TestStack(.inMemory), goldens = try CoreDataStoreFiles.goldens()
        let source = ModelTests.root.appendingPathComponent("Examples/Packages.xcdatamodeld")
        for file in [source] + goldens.map(\.store) {
            try CoreDataStoreFiles.withFolder { folder in
                #expect(throws: (any Error).self, "\(file.path)") {
                    try SQLiteStoreExport(stack.persistentStore, .coreData(version: file)).write(to: folder.appendingPathComponent("Other.sqlite"))
                }
                let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(left == [])
            }
        }
    }

    @Test
    func `Rows of a hierarchy keep their numbers where no two share one, and else follow each other`() throws {
        let stack = try TestStack(.inMemory)
        stack.insert("Person", ["name": "a"])
        try stack.context.save()
        try ExportedStore.with(stack.persistentStore) { #expect($0.summary.renumbered == []) }
        stack.insert("Employee", ["name": "b"])
        stack.insert("Employee", ["name": "c"])
        stack.insert("Person", ["name": "d"])
        try stack.context.save()
        try ExportedStore.with(stack.persistentStore) { exported in
            #expect(exported.summary.renumbered == ["ZPERSON"])
            guard let rows = try exported.rows("select Z_PK, ZNAME from ZPERSON order by Z_PK") else { return }
            #expect(rows == "[1, 'a']\n[2, 'd']\n[3, 'b']\n[4, 'c']\n")
            #expect(try exported.rows("select Z_MAX from Z_PRIMARYKEY where Z_NAME = 'Person'") == "[4]\n")
        }
        for person in try stack.fetch("Person") where person.entity.name == "Person" { stack.context.delete(person) }
        try stack.context.save()
        try ExportedStore.with(stack.persistentStore) { #expect($0.summary.renumbered == []) }
    }

    @Test
    func `Long lists keep their orders`() throws {
        let stack = try TestStack(.inMemory), count = 600
        let persons = (0..<2).map { stack.insert("Person", ["name": "p\($0)"]) }
        let tasks = (0..<count).map { stack.insert("Task", ["title": "t\($0)"]) }
        for (index, person) in persons.enumerated() {
            person.setValue(NSOrderedSet(array: (0..<count / 2).map { tasks[($0 * 7 + 3) % (count / 2) * 2 + index] }), forKey: "tasks")
        }
        try stack.context.save()
        try ExportedStore.with(stack.persistentStore) { exported in
            try exported.check()
            let context = try exported.context(stack.coordinator.managedObjectModel)
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            for person in found {
                let tasks = (person.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject]
                let titles = tasks?.compactMap { $0.value(forKey: "title") as? String }
                let index = person.value(forKey: "name") as? String == "p0" ? 0 : 1
                #expect(titles == (0..<count / 2).map { "t\(($0 * 7 + 3) % (count / 2) * 2 + index)" })
            }
        }
    }
}
