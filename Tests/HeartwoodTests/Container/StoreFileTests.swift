import Foundation
import RecordLog
import Testing

@testable import Heartwood

@Suite struct StoreFileTests {
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())

    /// A closed store with one person.
    private func make(_ url: URL, _ name: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try coordinator.addPersistentStore(type: .recordLog, at: url)
        try add(name, coordinator)
        try coordinator.remove(store)
    }

    private func add(_ name: String, _ coordinator: NSPersistentStoreCoordinator) throws {
        let context = coordinator.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue(name, forKey: "name")
        try context.save()
    }

    private func names(_ url: URL) throws -> [String] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try coordinator.addPersistentStore(type: .recordLog, at: url)
        defer { try? coordinator.remove(store) }
        return try coordinator.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            .compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    // MARK: Replacing

    @Test
    func `A store is replaced by another one`() throws {
        let scratch = try ScratchDirectory()
        try make(scratch["a"], "a")
        try make(scratch["b"], "b")
        try coordinator.replacePersistentStore(at: scratch["a"], withPersistentStoreFrom: scratch["b"], ofType: NSRecordLogStoreType)
        #expect(try names(scratch["a"]) == ["b"] && names(scratch["b"]) == ["b"])
        try coordinator.replacePersistentStore(at: scratch["c"], withPersistentStoreFrom: scratch["b"], type: .recordLog)
        #expect(try names(scratch["c"]) == ["b"] && scratch.names == ["a", "b", "c"])
        let identities = try ["b", "c"].map {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: scratch[$0])[NSStoreUUIDKey] as? String
        }
        #expect(identities[0] == identities[1], "a copy of the file is the same store")
        // A backup is restored over a destination that is damaged.
        try Data("broken".utf8).write(to: scratch["a"])
        try coordinator.replacePersistentStore(at: scratch["a"], withPersistentStoreFrom: scratch["b"], type: .recordLog)
        #expect(try names(scratch["a"]) == ["b"])
    }

    @Test
    func `A source that cannot be read does no damage`() throws {
        let scratch = try ScratchDirectory()
        try make(scratch["a"], "a")
        try Data("letter".utf8).write(to: scratch["letter"])
        try FileManager.default.createDirectory(at: scratch["folder"], withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: scratch["a"], to: scratch["damaged"])
        let damaged = try FileHandle(forUpdating: scratch["damaged"])
        try damaged.truncate(atOffset: 9000)
        try damaged.close()
        let before = scratch.contents
        for (source, wanted) in [
            ("none", CocoaError.Code.fileReadNoSuchFile.rawValue), ("letter", NSPersistentStoreOpenError), ("folder", NSPersistentStoreOpenError),
            ("damaged", NSPersistentStoreOperationError), ("a", NSPersistentStoreOperationError),
        ] {
            let error = #expect(throws: (any Error).self) {
                try coordinator.replacePersistentStore(at: scratch["a"], withPersistentStoreFrom: scratch[source], type: .recordLog)
            }
            #expect(
                [wanted, NSPersistentStoreOpenError, CocoaError.Code.fileReadCorruptFile.rawValue].contains(code(error) ?? 0),
                "\(source): \(error.map { "\($0)" } ?? "")")
            #expect(scratch.contents == before)
        }
        try coordinator.addPersistentStore(type: .recordLog, at: scratch["a"])
        try make(scratch["b"], "b")
        #expect(throws: (any Error).self) {
            try coordinator.replacePersistentStore(at: scratch["a"], withPersistentStoreFrom: scratch["none"], type: .recordLog)
        }
        #expect(coordinator.persistentStores.count == 1)
        // A loaded store is replaced too, and loaded again.
        try coordinator.replacePersistentStore(at: scratch["a"], withPersistentStoreFrom: scratch["b"], type: .recordLog)
        #expect(coordinator.persistentStores.count == 1 && coordinator.persistentStores[0].url == scratch["a"])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { $0.value(forKey: "name") as? String } == ["b"])
        let memory = #expect(throws: (any Error).self) {
            try coordinator.replacePersistentStore(at: scratch["c"], withPersistentStoreFrom: scratch["b"], type: .inMemory)
        }
        #expect(code(memory) == NSPersistentStoreInvalidTypeError)
    }

    // MARK: Destroying

    /// Destroying a loaded store was refused, although most programs empty theirs this way: destroy it and add it again.
    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Destroying a store removes it from the coordinator`(kind: StoreKind) throws {
        let scratch = try ScratchDirectory(), left = kind == .recordLog ? ["a"] : []
        let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: scratch["a"])
        try add("a", coordinator)
        let reader = coordinator.newContext()
        let held = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        let other: NSPersistentStore.StoreType = kind == .recordLog ? .binary : .recordLog
        #expect(code(#expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: scratch["a"], type: other) })
            == NSPersistentStoreOperationError)
        #expect(coordinator.persistentStores == [store] && held[0].value(forKey: "name") as? String == "a")
        try coordinator.destroyPersistentStore(at: scratch["a"], ofType: kind.type, options: nil)
        #expect(scratch.names == left && coordinator.persistentStores.isEmpty && store.persistentStoreCoordinator == nil)
        let new = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: scratch["a"], options: nil)
        reader.reset()
        #expect(try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 0)
        try add("b", coordinator)
        #expect(try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { $0.value(forKey: "name") as? String } == ["b"])
        // Read-only too.
        try coordinator.remove(new)
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: scratch["a"], options: [NSReadOnlyPersistentStoreOption: true])
        try coordinator.destroyPersistentStore(at: scratch["a"], ofType: kind.type)
        #expect(scratch.names == left && coordinator.persistentStores.isEmpty)
    }

    @Test
    func `A store that another coordinator has open is destroyed only by force`() throws {
        let scratch = try ScratchDirectory()
        let store = try coordinator.addPersistentStore(type: .recordLog, at: scratch["a"])
        let other = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
        let theirs = try other.addPersistentStore(type: .recordLog, at: scratch["a"])
        try add("a", coordinator)
        let error = #expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: scratch["a"], ofType: NSRecordLogStoreType) }
        #expect(code(error) == NSPersistentStoreOperationError)
        #expect((error as NSError?)?.userInfo[NSFilePathErrorKey] as? String == scratch["a"].path)
        #expect(coordinator.persistentStores == [store], "it stays where it was")
        try add("b", coordinator)
        let forced = [NSPersistentStoreForceDestroyOption: true]
        try coordinator.destroyPersistentStore(at: scratch["a"], type: .recordLog, options: forced)
        #expect(try size(scratch["a"]) == 0 && coordinator.persistentStores.isEmpty)
        let reader = other.newContext()
        #expect(try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)
        #expect(throws: (any Error).self) { try add("c", other) }
        try coordinator.addPersistentStore(type: .recordLog, at: scratch["a"])
        try add("d", coordinator)
        #expect(throws: (any Error).self) { try add("e", other) }
        try? other.remove(theirs)
        #expect(try names(scratch["a"]) == ["d"])
        try Data("letter".utf8).write(to: scratch["letter"])
        #expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: scratch["letter"], type: .recordLog, options: forced) }
        #expect(scratch.names == ["a", "letter"])
    }

    @Test
    func `A file that is not a store is not destroyed`() throws {
        let scratch = try ScratchDirectory()
        try coordinator.destroyPersistentStore(at: scratch["a"], type: .recordLog)
        try coordinator.destroyPersistentStore(at: scratch["a"], type: .inMemory)
        try Data("letter".utf8).write(to: scratch["letter"])
        let letter = #expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: scratch["letter"], type: .recordLog) }
        #expect(code(letter) == NSPersistentStoreOperationError && scratch.names == ["letter"])
        #expect(code(#expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: scratch["letter"], type: .sqlite) })
            == CocoaError.Code.fileWriteNoPermission.rawValue)
        #expect(scratch.names == ["letter"])
    }

    private func size(_ url: URL) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber)?.intValue ?? -1
    }

    /// Programs go on to remove the file, or to add the store again.
    @Test
    func `A destroyed record log leaves an empty file with its permissions`() throws {
        let scratch = try ScratchDirectory(), url = scratch["a"]
        try make(url, "a")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: url.path)
        try coordinator.destroyPersistentStore(at: url, type: .recordLog)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640 && (attributes[.size] as? NSNumber)?.intValue == 0)
        try coordinator.destroyPersistentStore(at: url, type: .recordLog)
        #expect(try size(url) == 0)
        try FileManager.default.removeItem(at: url)
        try coordinator.destroyPersistentStore(at: url, type: .recordLog)
        #expect(scratch.names.isEmpty)
    }

    /// In every way of making a store.
    @Test
    func `An empty file opens as a new store`() throws {
        let scratch = try ScratchDirectory(), url = scratch["a"]
        func empty() throws { try Data().write(to: url) }
        func check(_ names: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
            #expect(try self.names(url) == names, sourceLocation: sourceLocation)
            try empty()
        }
        try empty()
        for type in [NSPersistentStore.StoreType.recordLog, .binary] {
            for options in [nil, Chain.automatic, [NSReadOnlyPersistentStoreOption: false]] as [[AnyHashable: Any]?] {
                let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
                try add("new", coordinator)
                try coordinator.remove(store)
                #expect(try size(url) > 0)
                try empty()
            }
            let readOnly = #expect(throws: (any Error).self) {
                try coordinator.addPersistentStore(type: type, at: url, options: [NSReadOnlyPersistentStoreOption: true])
            }
            #expect(code(readOnly) == NSPersistentStoreOpenError && (readOnly as NSError?)?.localizedDescription.contains("empty") == true)
            #expect((readOnly as NSError?)?.userInfo[NSFilePathErrorKey] as? String == url.path)
            let metadata = #expect(throws: (any Error).self) {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
            }
            #expect(code(metadata) == NSPersistentStoreOpenError)
            #expect(try size(url) == 0 && coordinator.persistentStores.isEmpty)
        }
        let container = NSPersistentContainer(name: "a", managedObjectModel: coordinator.managedObjectModel)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        try add("contained", container.persistentStoreCoordinator)
        for store in container.persistentStoreCoordinator.persistentStores { try container.persistentStoreCoordinator.remove(store) }
        try check(["contained"])
        // A store of any type that is migrated to it.
        for kind in [StoreKind.recordLog, .inMemory, .binary] {
            let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: scratch["source"])
            try add("migrated", coordinator)
            let new = try coordinator.migratePersistentStore(store, to: url, type: .recordLog)
            try coordinator.remove(new)
            try check(["migrated"])
            try? FileManager.default.removeItem(at: scratch["source"])
        }
        try make(scratch["b"], "b")
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: scratch["b"], type: .recordLog)
        try check(["b"])
        let manager = NSMigrationManager(sourceModel: coordinator.managedObjectModel, destinationModel: coordinator.managedObjectModel)
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: coordinator.managedObjectModel, destinationModel: coordinator.managedObjectModel)
        try manager.migrateStore(from: scratch["b"], type: .recordLog, mapping: mapping, to: url, type: .recordLog)
        try check(["b"])
        #expect(throws: (any Error).self) {
            try coordinator.replacePersistentStore(at: scratch["b"], withPersistentStoreFrom: url, type: .recordLog)
        }
        #expect(try names(scratch["b"]) == ["b"])
    }

    // MARK: Moving

    @Test
    func `A loaded store follows its file`() throws {
        let scratch = try ScratchDirectory()
        let store = try coordinator.addPersistentStore(type: .recordLog, at: scratch["a"])
        let context = coordinator.newContext()
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue("a", forKey: "name")
        try context.save()
        person.setValue("changed", forKey: "name")
        #expect(!coordinator.setURL(scratch["b"], for: store), "there is nothing")
        try FileManager.default.moveItem(at: scratch["a"], to: scratch["b"])
        let id = person.objectID
        #expect(coordinator.setURL(scratch["b"], for: store) && coordinator.url(for: store) == scratch["b"])
        try context.save()
        #expect(person.objectID == id && id.persistentStore === store)
        context.reset()
        #expect(try context.existingObject(with: id).value(forKey: "name") as? String == "changed")
        #expect(scratch.names == ["b"])
        try make(scratch["other"], "other")
        #expect(!coordinator.setURL(scratch["other"], for: store) && coordinator.url(for: store) == scratch["b"])
        try add("more", coordinator)
        try coordinator.remove(store)
        #expect(try names(scratch["b"]) == ["changed", "more"] && names(scratch["other"]) == ["other"])
        #expect(!coordinator.setURL(scratch["b"], for: store))
    }

    // MARK: Metadata

    @Test
    func `Metadata is read and written without a model`() throws {
        let scratch = try ScratchDirectory()
        try make(scratch["a"], "a")
        let before = scratch.contents
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSRecordLogStoreType, at: scratch["a"])
        #expect(scratch.contents == before, "nothing is written")
        #expect(metadata[NSStoreTypeKey] as? String == NSRecordLogStoreType)
        #expect(coordinator.managedObjectModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        try NSPersistentStoreCoordinator.setMetadata(
            ["note": "n", NSStoreUUIDKey: "forged"], forPersistentStoreOfType: NSRecordLogStoreType, at: scratch["a"])
        let store = try coordinator.addPersistentStore(type: .recordLog, at: scratch["a"])
        #expect(coordinator.metadata(for: store)["note"] as? String == "n" && store.identifier == metadata[NSStoreUUIDKey] as? String)
        try coordinator.remove(store)
        try NSPersistentStoreCoordinator.setMetadata(nil, type: .recordLog, at: scratch["a"])
        let last = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: scratch["a"])
        #expect(last["note"] == nil && last[NSStoreUUIDKey] as? String == store.identifier)
    }

    @Test
    func `Reading metadata of a file that is not a store is an error`() throws {
        let scratch = try ScratchDirectory()
        try Data("letter".utf8).write(to: scratch["letter"])
        try Data().write(to: scratch["empty"])
        let before = scratch.contents
        for name in ["none", "letter", "empty", "none/a"] {
            for error in [
                #expect(throws: (any Error).self) { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: scratch[name]) },
                #expect(throws: (any Error).self) { try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .recordLog, at: scratch[name]) },
            ] {
                let wanted = name == "none" ? CocoaError.Code.fileReadNoSuchFile.rawValue : NSPersistentStoreOpenError
                #expect(code(error) == wanted, "\(name): \(error.map { "\($0)" } ?? "")")
            }
            #expect(scratch.contents == before)
        }
        let refusals = [NSPersistentStore.StoreType.inMemory: NSPersistentStoreInvalidTypeError, .sqlite: CocoaError.Code.fileReadNoSuchFile.rawValue]
        for (type, wanted) in refusals {
            let error = #expect(throws: (any Error).self) {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: scratch["none"])
            }
            #expect(code(error) == wanted)
        }
    }

    /// It removed any file at the path.
    @Test
    func `A binary store is destroyed only if there is one`() throws {
        let scratch = try ScratchDirectory()
        try Data("Dear mother, this is a long letter that nobody wants to lose.".utf8).write(to: scratch["letter"])
        try FileManager.default.createDirectory(at: scratch["directory"], withIntermediateDirectories: false)
        for name in ["letter", "directory"] {
            let error = #expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: scratch[name], type: .binary) }
            #expect(code(error) == NSPersistentStoreOperationError, "\(name)")
        }
        #expect(scratch.names == ["directory", "letter"])
        let store = try coordinator.addPersistentStore(type: .binary, at: scratch["a"])
        try FileManager.default.createSymbolicLink(at: scratch["link"], withDestinationURL: scratch["a"])
        try coordinator.remove(store)
        // Damaged behind its first bytes it is still an archive.
        try (Data(contentsOf: scratch["a"]).prefix(20) + Data(repeating: 7, count: 100)).write(to: scratch["a"])
        try coordinator.destroyPersistentStore(at: scratch["link"], type: .binary)
        try coordinator.destroyPersistentStore(at: scratch["a"], type: .binary)
        #expect(scratch.names == ["directory", "letter"])
    }

    /// For example, a store that was migrated into memory has the URL of its source file.
    @Test
    func `A store in memory does not stand in the way of a file with its URL`() throws {
        let scratch = try ScratchDirectory(), file = scratch["a"]
        for url in [file, scratch["b"]] { try make(url, url.lastPathComponent) }
        let memory = try coordinator.addPersistentStore(type: .inMemory, at: file)
        try coordinator.replacePersistentStore(at: file, withPersistentStoreFrom: scratch["b"], type: .recordLog)
        #expect(try names(file) == ["b"])
        try coordinator.destroyPersistentStore(at: file, type: .recordLog)
        #expect(try size(file) == 0 && coordinator.persistentStores == [memory])
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A loaded store is found through a symbolic link`(kind: StoreKind) throws {
        let scratch = try ScratchDirectory(), stack = try TestStack(kind, at: scratch["a"]), other = try TestStack(kind, at: scratch["b"])
        for (stack, label) in [(stack, "a"), (other, "b")] {
            stack.insert("Tag", ["label": label])
            try stack.context.save()
        }
        try other.coordinator.remove(other.persistentStore)
        try FileManager.default.createSymbolicLink(at: scratch["link"], withDestinationURL: scratch["a"])
        func replace() throws {
            try stack.coordinator.replacePersistentStore(at: scratch["link"], withPersistentStoreFrom: scratch["b"], ofType: kind.type)
        }
        let loaded = stack.persistentStore
        try replace()
        #expect(scratch.names == ["a", "b", "link"] && stack.coordinator.persistentStores.count == 1 && stack.persistentStore !== loaded)
        try stack.coordinator.remove(stack.persistentStore)
        let again = try TestStack(kind, at: scratch["a"])
        #expect(try again.fetch("Tag").map { $0.value(forKey: "label") as? String } == ["b"], "what the link leads to was replaced")
        try again.coordinator.destroyPersistentStore(at: scratch["link"], ofType: kind.type)
        // The link leads to the empty file.
        #expect(scratch.names == (kind == .recordLog ? ["a", "b", "link"] : ["b"]) && again.coordinator.persistentStores.isEmpty)
        if kind == .recordLog { #expect(try size(scratch["a"]) == 0) }
    }

    @Test
    func `Only file URLs have a binary store's metadata`() throws {
        let scratch = try ScratchDirectory()
        try coordinator.remove(try coordinator.addPersistentStore(type: .binary, at: scratch["a"]))
        let url = try #require(URL(string: "https://example.com\(scratch["a"].path)"))
        #expect(throws: (any Error).self) { try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .binary, at: url) }
        #expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: url, type: .binary) }
        #expect(scratch.names == ["a"])
    }
}
