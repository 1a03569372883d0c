import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Xcode's template, previews and tests make a store in memory by the URL `/dev/null`.
@Suite struct NullDeviceTests {
    private static let null = URL(fileURLWithPath: "/dev/null")
    private static let types = [NSRecordLogStoreType, NSBinaryStoreType, NSSQLiteStoreType]

    private func coordinator() -> NSPersistentStoreCoordinator { NSPersistentStoreCoordinator(managedObjectModel: TestStack.model()) }

    private func insert(_ name: String, into coordinator: NSPersistentStoreCoordinator) throws -> NSManagedObjectID {
        let context = coordinator.newContext()
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue(name, forKey: "name")
        try context.save()
        return person.objectID
    }

    private func names(in coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore? = nil) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.affectedStores = store.map { [$0] }
        let context = coordinator.newContext()
        return try withExtendedLifetime(context) { try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted() }
    }

    private func isDevice() throws -> Bool {
        try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType == .typeCharacterSpecial
    }

    @Test(arguments: types, ["/dev/null", "/dev/null/Some.sqlite", "/dev/./null", "/dev/../dev/null"])
    func `A store of each built-in type at the null device is in memory, and each is a store of its own`(type: String, path: String) throws {
        let coordinators = [coordinator(), coordinator()], url = URL(fileURLWithPath: path)
        for (number, coordinator) in coordinators.enumerated() {
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
            #expect(store.type == NSInMemoryStoreType && coordinator.metadata(for: store)[NSStoreTypeKey] as? String == NSInMemoryStoreType)
            _ = try insert("\(number)", into: coordinator)
            coordinator.setMetadata(["mine": number], for: store)
            #expect(coordinator.metadata(for: store)["mine"] as? Int == number)
        }
        #expect(try coordinators.map { try names(in: $0) } == [["0"], ["1"]])
        // Two in one coordinator.
        let second = try coordinators[0].addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        #expect(try names(in: coordinators[0], second) == [] && names(in: coordinators[0]) == ["0"])
        try coordinators[0].destroyPersistentStore(at: url, ofType: type, options: nil)
        #expect(try names(in: coordinators[0]) == ["0"] && isDevice())
    }

    @Test
    func `A class of the user's own is used at the null device too`() throws {
        let coordinator = coordinator(), type = StoreKind.incremental.type
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: Self.null, options: nil)
        #expect(store is DictionaryStore)
        try coordinator.destroyPersistentStore(at: Self.null, ofType: type, options: nil)
        #expect(try isDevice())
    }

    @Test(arguments: types)
    func `A container's template makes a store in memory`(type: String) throws {
        let container = NSPersistentContainer(name: "Preview", managedObjectModel: TestStack.model())
        let description = try #require(container.persistentStoreDescriptions.first)
        (description.url, description.type) = (Self.null, type)
        container.loadPersistentStores { _, error in #expect(error == nil) }
        _ = try insert("a", into: container.persistentStoreCoordinator)
        #expect(try names(in: container.persistentStoreCoordinator) == ["a"])
    }

    @Test(arguments: types)
    func `A store migrates into memory and from there to a file`(type: String) throws {
        let scratch = try ScratchDirectory(), coordinator = coordinator()
        let file = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: scratch["a"], options: nil)
        let id = try insert("a", into: coordinator)
        let memory = try coordinator.migratePersistentStore(file, to: Self.null, withType: type)
        #expect(memory.type == NSInMemoryStoreType && coordinator.persistentStores == [memory])
        #expect(try names(in: coordinator) == ["a"])
        // From memory to memory, and back to a file.
        let again = try coordinator.migratePersistentStore(memory, to: Self.null, withType: type)
        _ = try insert("b", into: coordinator)
        let target = type == NSSQLiteStoreType ? NSRecordLogStoreType : type
        try coordinator.migratePersistentStore(again, to: scratch["b"], withType: target)
        #expect(try names(in: coordinator) == ["a", "b"] && isDevice())
        #expect(id.persistentStore == nil || id.persistentStore !== again)
        let other = self.coordinator()
        try other.addPersistentStore(ofType: target, configurationName: nil, at: scratch["b"], options: nil)
        #expect(try names(in: other) == ["a", "b"])
    }

    @Test(arguments: [NSRecordLogStoreType, NSBinaryStoreType])
    func `A replacement fills the store in memory, and writes it to a file, with its identity`(type: String) throws {
        let scratch = try ScratchDirectory(), maker = coordinator()
        let seed = try maker.addPersistentStore(ofType: type, configurationName: nil, at: scratch["seed"], options: nil)
        _ = try insert("a", into: maker)
        let identifier = try #require(seed.identifier)
        let coordinator = coordinator()
        // There is nothing to fill yet, and nothing to read.
        for ends in [(Self.null, scratch["seed"]), (scratch["none"], Self.null)] {
            let error = #expect(throws: NSError.self) {
                try coordinator.replacePersistentStore(at: ends.0, withPersistentStoreFrom: ends.1, ofType: type)
            }
            #expect(code(error) == NSPersistentStoreOpenError)
        }
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: Self.null, options: nil)
        _ = try insert("old", into: coordinator)
        try coordinator.replacePersistentStore(at: Self.null, withPersistentStoreFrom: scratch["seed"], ofType: type)
        #expect(coordinator.persistentStores.map(\.type) == [NSInMemoryStoreType])
        #expect(coordinator.persistentStores[0].identifier == identifier && coordinator.persistentStores[0].url == Self.null)
        let id = try insert("b", into: coordinator)
        #expect(try names(in: coordinator) == ["a", "b"])
        // Out again.
        guard type == NSRecordLogStoreType else {
            #expect(throws: NSError.self) {
                try coordinator.replacePersistentStore(at: scratch["out"], withPersistentStoreFrom: Self.null, ofType: type)
            }
            return
        }
        try coordinator.replacePersistentStore(at: scratch["out"], withPersistentStoreFrom: Self.null, ofType: type)
        let reader = self.coordinator()
        let made = try reader.addPersistentStore(ofType: type, configurationName: nil, at: scratch["out"], options: nil)
        #expect(try names(in: reader) == ["a", "b"] && made.identifier == identifier)
        #expect(made.metadata[NSStoreTypeKey] as? String == NSRecordLogStoreType)
        let found = try #require(reader.managedObjectID(forURIRepresentation: id.uriRepresentation()))
        let context = reader.newContext()
        #expect(try context.existingObject(with: found).value(forKey: "name") as? String == "b")
        // Two stores at one URL cannot be told apart.
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: Self.null, options: nil)
        let error = #expect(throws: NSError.self) {
            try coordinator.replacePersistentStore(at: Self.null, withPersistentStoreFrom: scratch["seed"], ofType: type)
        }
        #expect(code(error) == NSPersistentStoreOperationError)
        #expect(try isDevice())
    }

    @Test(arguments: types)
    func `Metadata at the null device are those of a coordinator's store; the class methods have none`(type: String) throws {
        let error = #expect(throws: NSError.self) {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: Self.null, options: nil)
        }
        #expect(code(error) == NSPersistentStoreOpenError)
        let second = #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.setMetadata(["a": 1], forPersistentStoreOfType: type, at: Self.null, options: nil)
        }
        #expect(code(second) == NSPersistentStoreOpenError)
    }

    @Test
    func `A store in a file is not moved to the null device`() throws {
        let scratch = try ScratchDirectory(), coordinator = coordinator()
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: scratch["a"], options: nil)
        #expect(!coordinator.setURL(Self.null, for: store) && store.url == scratch["a"])
    }

    @Test(arguments: [StoreKind.recordLog, .binary, .atomic])
    func `Destroying what is not there does nothing, for each type`(kind: StoreKind) throws {
        let scratch = try ScratchDirectory()
        for url in [scratch["none"], scratch["folder/none"], Self.null] {
            try coordinator().destroyPersistentStore(at: url, ofType: kind.type, options: nil)
        }
        #expect(try scratch.names == [] && isDevice())
    }
}
