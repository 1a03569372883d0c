import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct StoreQuestions {
    @Test(.guide("Persistent Store Types and Behaviors", "Persistent Store Types"), arguments: StoreKind.files)
    func `Saved objects are there when the store is opened again`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book", ["title": "one"])
        let again = try stack.reopened()
        #expect(try again.only("Book", in: again.context).text("title") == "one")
    }

    @Test(.header("NSPersistentStoreCoordinator", "NSStoreTypeKey, NSStoreUUIDKey"), arguments: StoreKind.allCases)
    func `A store's metadata has its type and its UUID`(kind: StoreKind) throws {
        let stack = try Stack(kind), metadata = stack.coordinator.metadata(for: stack.store)
        #expect(metadata[NSStoreTypeKey] as? String == kind.type && metadata[NSStoreUUIDKey] as? String == stack.store.identifier)
        #expect(stack.store.type == kind.type)
    }

    @Test(.header("NSPersistentStoreCoordinator", "NSStoreModelVersionHashesKey"), arguments: StoreKind.files)
    func `A store's metadata has the version hashes of its entities`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book")
        let metadata = stack.coordinator.metadata(for: stack.store), hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        #expect(hashes?["Book"] == stack.coordinator.managedObjectModel.entityVersionHashesByName["Book"])
        #expect(stack.coordinator.managedObjectModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!Sketch.items().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test(.header("NSPersistentStoreCoordinator", "setMetadata:forPersistentStore:"), arguments: StoreKind.files)
    func `Metadata that a program sets is written with the next save`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        var metadata = stack.coordinator.metadata(for: stack.store)
        metadata["note"] = "mine"
        stack.coordinator.setMetadata(metadata, for: stack.store)
        try stack.saved("Book")
        let again = try stack.reopened()
        #expect(again.coordinator.metadata(for: again.store)["note"] as? String == "mine")
    }

    @Test(.source("NSPersistentStoreCoordinator setMetadata(_:for:); measured by public tests (parity A9)"), arguments: StoreKind.files)
    func `A save writes metadata though nothing else has changed`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book")
        stack.store.metadata["note"] = "mine"
        try stack.context.save()
        let again = try stack.reopened()
        #expect(again.coordinator.metadata(for: again.store)["note"] as? String == "mine")
    }

    @Test(.header("NSPersistentStoreCoordinator", "metadataForPersistentStoreOfType:URL:options:error:"), arguments: StoreKind.files)
    func `Metadata can be read without a stack`(kind: StoreKind) throws {
        let stack = try Stack(kind), uuid = stack.store.identifier
        try stack.saved("Book")
        try stack.coordinator.remove(stack.store)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: stack.url, options: nil)
        #expect(metadata[NSStoreUUIDKey] as? String == uuid && metadata[NSStoreTypeKey] as? String == kind.type)
    }

    @Test(.header("NSPersistentStoreCoordinator", "setMetadata:forPersistentStoreOfType:URL:options:error:"), arguments: StoreKind.files)
    func `Metadata can be written without a stack`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book")
        try stack.coordinator.remove(stack.store)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: stack.url, options: nil)
        metadata["note"] = "mine"
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: kind.type, at: stack.url, options: nil)
        let again = try stack.reopened()
        #expect(again.coordinator.metadata(for: again.store)["note"] as? String == "mine")
    }

    @Test(.reference("nspersistentstorecoordinator/persistentstore(for:)"), arguments: StoreKind.files)
    func `Stores are found by URL, and say theirs`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        #expect(stack.coordinator.persistentStore(for: stack.url) === stack.store && stack.coordinator.url(for: stack.store) == stack.url)
        #expect(stack.store.url == stack.url && stack.coordinator.persistentStore(for: stack.url.appendingPathExtension("x")) == nil)
    }

    @Test(.reference("nspersistentstorecoordinator/remove(_:)"), arguments: StoreKind.allCases)
    func `A removed store is gone from the coordinator`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.coordinator.remove(stack.store)
        #expect(stack.coordinator.persistentStores.isEmpty)
    }

    @Test(.header("NSPersistentStoreCoordinator", "registeredStoreTypes"), arguments: StoreKind.allCases)
    func `The store types are registered`(kind: StoreKind) {
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes.keys.contains(kind.type))
    }

    @Test(.header("CoreDataErrors", "NSPersistentStoreInvalidTypeError: unknown type"))
    func `An unregistered store type fails`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sketch.library())
        let error = failure { try coordinator.addPersistentStore(ofType: "Nothing", configurationName: nil, at: nil, options: nil) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreInvalidTypeError)
    }

    @Test(.header("CoreDataErrors", "NSPersistentStoreIncompatibleVersionHashError"), arguments: StoreKind.files)
    func `A store of another model does not open: 134100`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book")
        let error = failure { _ = try stack.reopened(Sketch.items()) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test(.header("CoreDataErrors", "NSFileReadCorruptFileError and its like"), arguments: StoreKind.files)
    func `A file that is no store does not open`(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        try Data("no store at all, only a text".utf8).write(to: folder.url.appendingPathComponent("store"))
        #expect(failure { _ = try Stack(kind, in: folder) }?.domain == NSCocoaErrorDomain)
    }

    @Test(.header("NSPersistentStoreCoordinator", "NSReadOnlyPersistentStoreOption"), arguments: StoreKind.files)
    func `A read-only store is read`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        #expect(!stack.store.isReadOnly)
        try stack.saved("Book")
        let again = try stack.reopened(options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try again.count("Book") == 1)
        #expect(again.store.isReadOnly)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B21)"), arguments: StoreKind.files)
    func `Saving to a read-only store fails with 513`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book")
        let again = try stack.reopened(options: [NSReadOnlyPersistentStoreOption: true])
        again.new("Book")
        let error = failure { try again.context.save() }
        #expect(error != nil)
        #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B21)"), arguments: StoreKind.files)
    func `Opening a missing file read-only fails with 260`(kind: StoreKind) throws {
        let error = failure { _ = try Stack(kind, options: [NSReadOnlyPersistentStoreOption: true]) }
        #expect(error != nil)
        #expect(error?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
    }

    @Test(
        .header("NSPersistentStoreCoordinator", "migratePersistentStore:toURL:options:withType:error:"), arguments: StoreKind.files,
        StoreKind.files)
    func `A store can be moved to another URL and type; its objects go with it`(kind: StoreKind, other: StoreKind) throws {
        let stack = try Stack(kind), target = stack.url.appendingPathExtension("new")
        try stack.saved("Book", ["title": "one"])
        let new = try stack.coordinator.migratePersistentStore(
            stack.store, to: target, options: StoreKind.quickOptions, withType: other.type)
        #expect(stack.coordinator.persistentStores == [new] && new.type == other.type && new.url == target)
        #expect(try stack.only("Book", in: stack.sibling()).text("title") == "one")
    }

    @Test(.header("NSPersistentStoreCoordinator", "destroyPersistentStoreAtURL:withType:options:error:"), arguments: StoreKind.files)
    func `A destroyed store has no objects when it is opened again`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book")
        try stack.coordinator.remove(stack.store)
        try stack.coordinator.destroyPersistentStore(at: stack.url, ofType: kind.type, options: nil)
        let again = try stack.reopened()
        #expect(try again.count("Book") == 0)
    }

    @Test(.source("Measured in public code for Apple's platforms (parity B23): the file is emptied"))
    func `A destroyed store's file may be removed by the program`() throws {
        let stack = try Stack(.database)
        try stack.saved("Book")
        try stack.coordinator.remove(stack.store)
        try stack.coordinator.destroyPersistentStore(at: stack.url, ofType: stack.kind.type, options: nil)
        try FileManager.default.removeItem(at: stack.url)
    }

    @Test(.header("NSPersistentStoreCoordinator", "replacePersistentStoreAtURL:…"), arguments: StoreKind.files)
    func `A store can be replaced by another one`(kind: StoreKind) throws {
        let source = try Stack(kind), target = try Stack(kind)
        try source.saved("Book", ["title": "source"])
        try target.saved("Book", ["title": "target"])
        try source.coordinator.remove(source.store)
        try target.coordinator.remove(target.store)
        try target.coordinator.replacePersistentStore(
            at: target.url, destinationOptions: nil, withPersistentStoreFrom: source.url, sourceOptions: nil, ofType: kind.type)
        let again = try target.reopened()
        #expect(try again.only("Book", in: again.context).text("title") == "source")
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A26)"))
    func `A store that is loaded can be replaced`() throws {
        let source = try Stack(.database), target = try Stack(.database)
        try source.saved("Book", ["title": "source"])
        try source.coordinator.remove(source.store)
        try target.coordinator.replacePersistentStore(
            at: target.url, destinationOptions: nil, withPersistentStoreFrom: source.url, sourceOptions: nil, ofType: target.kind.type)
    }

    @Test(.header("NSManagedObjectContext", "assignObject:toPersistentStore:"), arguments: StoreKind.allCases)
    func `A new object goes to the first store that can take it, unless it is assigned`(kind: StoreKind) throws {
        let stack = try Stack(kind), first = stack.store
        let second = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let plain = stack.new("Book"), assigned = stack.new("Book")
        stack.context.assign(assigned, to: second)
        try stack.context.save()
        #expect(plain.objectID.persistentStore === first && assigned.objectID.persistentStore === second)
        #expect(try stack.count("Book", in: stack.sibling()) == 2)
    }

    @Test(.reference("nsmanagedobjectmodel/setentities(_:forconfigurationname:)"))
    func `A configuration's entities go to its store`() throws {
        let model = Sketch.model(Sketch.entity("A", []), Sketch.entity("B", []))
        model.setEntities([model.entitiesByName["A"]!], forConfigurationName: "first")
        model.setEntities([model.entitiesByName["B"]!], forConfigurationName: "second")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        let first = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "first", at: nil, options: nil)
        let second = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "second", at: nil, options: nil)
        context.persistentStoreCoordinator = coordinator
        let a = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
        let b = NSEntityDescription.insertNewObject(forEntityName: "B", into: context)
        try context.save()
        #expect(a.objectID.persistentStore === first && b.objectID.persistentStore === second && first.configurationName == "first")
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A16)"))
    func `A configuration with a parent entity holds its sub-entities`() throws {
        let model = Sketch.library()
        model.setEntities(model.entities.filter { $0.name != "Novel" }, forConfigurationName: "all")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "all", at: nil, options: nil)
        context.persistentStoreCoordinator = coordinator
        _ = NSEntityDescription.insertNewObject(forEntityName: "Novel", into: context)
        #expect(failure { try context.save() } == nil)
    }

    @Test(.header("CoreDataErrors", "NSManagedObjectExternalRelationshipError"))
    func `A relationship between two stores fails the save`() throws {
        let stack = try Stack(.inMemory)
        let second = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let author = stack.new("Author"), book = stack.new("Book", ["author": author])
        stack.context.assign(author, to: stack.store)
        stack.context.assign(book, to: second)
        #expect(failure { try stack.context.save() }?.code == NSManagedObjectExternalRelationshipError)
    }
}

@MainActor struct DescriptionQuestions {
    @Test(.reference("nspersistentstoredescription"))
    func `By default a description migrates, infers, writes and loads at once`() {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/x"))
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        #expect(!description.isReadOnly && !description.shouldAddStoreAsynchronously && description.configuration == nil)
        #expect(description.type == StoreKind.database.type && description.url?.path == "/tmp/x")
    }

    @Test(.source("Measured on Apple's platforms (parity B21)"))
    func `A description waits 240 seconds for its store`() {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/x"))
        #expect(description.timeout == 240)
    }

    @Test(.reference("nspersistentstoredescription/setoption(_:forkey:)"))
    func `A description's options are what is set`() {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/x"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        #expect(description.options[NSPersistentHistoryTrackingKey] as? Bool == true)
        description.isReadOnly = true
        #expect(description.isReadOnly)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A11)"))
    func `A description without a URL is at /dev/null and loads in memory`() throws {
        #expect(NSPersistentStoreDescription().url?.path == "/dev/null")
        try load(NSPersistentStoreDescription())
    }

    @Test(.wwdc(2018, 224, "Core Data Best Practices: testing with /dev/null"), arguments: ["/dev/null", "/dev/null/name.sqlite"])
    func `A store at /dev/null is in memory`(path: String) throws {
        try load(NSPersistentStoreDescription(url: URL(fileURLWithPath: path)))
    }

    private func load(_ description: NSPersistentStoreDescription) throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Sketch.library())
        container.persistentStoreDescriptions = [description]
        var failed: (any Error)?
        container.loadPersistentStores { failed = $1 }
        #expect(failed == nil)
        guard failed == nil else { return }
        _ = NSEntityDescription.insertNewObject(forEntityName: "Book", into: container.viewContext)
        try container.viewContext.save()
        #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 1)
    }

    @Test(.reference("nspersistentcontainer/persistentstoredescriptions"))
    func `A container has one description of itself, named after it`() {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Sketch.library())
        #expect(container.persistentStoreDescriptions.count == 1)
        #expect(container.persistentStoreDescriptions.first?.url?.deletingPathExtension().lastPathComponent == "Library")
        #expect(container.persistentStoreDescriptions.first?.type == StoreKind.database.type)
    }

    @Test(.reference("nspersistentstoredescription"))
    func `A copy of a description changes by itself`() throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/x"))
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        copy.isReadOnly = true
        #expect(!description.isReadOnly && copy.url == description.url)
    }
}
