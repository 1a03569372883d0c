import Foundation
import RecordLog
import Synchronization
import Testing

@testable import Heartwood

@Suite struct BinaryStoreTests {
    private func names(_ stack: TestStack) throws -> [String] {
        try stack.fetch("Person", in: stack.anew()).compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    @Test
    func `Everything has its ID after reopening`() throws {
        let stack = try TestStack(.binary)
        let group = stack.insert("Group", ["title": "g"])
        let people = ["a", "b", "c"].map { stack.insert("Person", ["name": $0, "group": group]) }
        let task = stack.insert("Task", ["title": "t", "owner": people[1]])
        try stack.context.save()
        let gone = people[2].objectID.uriRepresentation()
        stack.context.delete(people[2])
        try stack.context.save()
        stack.coordinator.setMetadata(["note": "kept"], for: stack.coordinator.persistentStores[0])
        let uris = [group, people[0], people[1], task].map { $0.objectID.uriRepresentation() }
        let identifier = stack.coordinator.persistentStores[0].identifier

        let again = try TestStack(.binary, at: stack.url)
        let store = again.coordinator.persistentStores[0]
        #expect(store.identifier == identifier && store.type == NSBinaryStoreType && store.metadata["note"] as? String == "kept")
        #expect(store.metadata[NSStoreTypeKey] as? String == NSBinaryStoreType)
        let objects = try uris.map { uri in
            try again.context.existingObject(with: try #require(again.coordinator.managedObjectID(forURIRepresentation: uri)))
        }
        #expect(objects[1].value(forKey: "name") as? String == "a" && objects[1].value(forKey: "group") as? NSManagedObject === objects[0])
        #expect((objects[2].value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject] == [objects[3]])
        let new = again.insert("Person", ["name": "d"])
        try again.context.save()
        #expect(new.objectID.uriRepresentation() != gone, "an ID is never given again")
        #expect(try BinaryStore.metadataForPersistentStore(with: stack.url)["note"] as? String == "kept")
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Metadata that is set is written with the next save`(kind: StoreKind) throws {
        let stack = try TestStack(kind), store = stack.coordinator.persistentStores[0]
        store.metadata = ["note": "set", NSStoreUUIDKey: "not this one"]
        #expect(store.metadata["note"] as? String == "set" && store.metadata[NSStoreUUIDKey] as? String == store.identifier)
        func written() throws -> [String: Any] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
            return try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: stack.url).metadata
        }
        #expect(try written()["note"] == nil)
        stack.insert("Tag", ["label": "l"])
        try stack.context.save()
        let metadata = try written()
        #expect(metadata["note"] as? String == "set" && metadata[NSStoreUUIDKey] as? String == store.identifier)
    }

    @Test
    func `A row number that was reserved stays taken`() throws {
        let stack = try TestStack(.binary), other = try TestStack(.binary, at: stack.url)
        let early = stack.insert("Person", ["name": "early"])
        try stack.context.obtainPermanentIDs(for: [early])
        let late = other.insert("Person", ["name": "late"])
        try other.context.save()
        #expect(late.objectID.uriRepresentation() != early.objectID.uriRepresentation())
        try stack.context.save()
        #expect(try names(stack) == ["early", "late"] && names(other) == ["early", "late"])
    }

    // MARK: Two coordinators

    @Test
    func `Saves of two coordinators are both kept`() throws {
        let a = try TestStack(.binary), b = try TestStack(.binary, at: a.url)
        a.insert("Person", ["name": "a"])
        try a.context.save()
        b.insert("Person", ["name": "b"])
        try b.context.save()
        a.insert("Person", ["name": "c"])
        try a.context.save()
        #expect(try names(a) == ["a", "b", "c"] && names(b) == ["a", "b", "c"])
        #expect(try names(try TestStack(.binary, at: a.url)) == ["a", "b", "c"])
    }

    @Test
    func `An object changed by two coordinators is a conflict`() throws {
        let a = try TestStack(.binary), b = try TestStack(.binary, at: a.url)
        a.insert("Person", ["name": "p", "age": 1])
        try a.context.save()
        let mine = try #require(try b.fetch("Person").first)
        #expect(mine.value(forKey: "age") as? Int == 1)
        let theirs = try #require(try a.fetch("Person").first)
        theirs.setValue(2, forKey: "age")
        try a.context.save()
        mine.setValue(3, forKey: "age")
        let error = failure { try b.context.save() }
        #expect(error?.code == NSManagedObjectMergeError && b.context.hasChanges)
        #expect(try a.fetch("Person", in: a.anew()).first?.value(forKey: "age") as? Int == 2)
        b.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try b.context.save()
        #expect(try a.fetch("Person", in: a.anew()).first?.value(forKey: "age") as? Int == 3)
    }

    @Test
    func `Contexts that merge automatically see another coordinator's saves`() throws {
        let a = try TestStack(.binary)
        a.insert("Person", ["name": "p", "age": 1])
        try a.context.save()
        let b = try TestStack(.binary, at: a.url, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        b.context.automaticallyMergesChangesFromParent = true
        let person = try #require(try b.fetch("Person").first)
        #expect(person.value(forKey: "age") as? Int == 1)
        let posted = Mutex(0)
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: b.coordinator, queue: nil) { _ in
            posted.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try a.fetch("Person").first?.setValue(2, forKey: "age")
        try a.context.save()
        _ = try b.fetch("Person")
        #expect(posted.withLock { $0 } == 1 && person.value(forKey: "age") as? Int == 2)
    }

    @Test
    func `Another store in its location is not overwritten`() throws {
        let a = try TestStack(.binary)
        a.insert("Person", ["name": "a"])
        try a.context.save()
        let other = try TestStack(.binary)
        other.insert("Person", ["name": "other"])
        try other.context.save()
        let bytes = try Data(contentsOf: other.url)
        try bytes.write(to: a.url, options: .atomic)
        a.insert("Person", ["name": "b"])
        let error = failure { try a.context.save() }
        #expect(error?.localizedDescription.contains("Another store has replaced the archive") == true)
        #expect(failure { try a.context.save() } != nil && a.context.hasChanges)
        #expect(try Data(contentsOf: a.url) == bytes)
        try FileManager.default.removeItem(at: a.url)
        #expect(failure { try a.context.save() }?.localizedDescription.contains("was removed while it was open") == true)
    }

    // MARK: Failures

    /// A binary store over a file system of the test.
    private final class FaultyBinaryStore: BinaryStore, @unchecked Sendable {
        static let files = Mutex<[String: FaultyFileSystem]>([:])

        override var archiveOptions: StoreOptions {
            var options = super.archiveOptions
            options.durability = .full
            options.fileSystem = Self.files.withLock { files in url.flatMap { files[$0.path] } }
            return options
        }
    }

    @Test(arguments: [FaultyFileSystem.Call.create, .rename, .syncDirectory])
    func `A failed save has no effect`(call: FaultyFileSystem.Call) throws {
        NSPersistentStoreCoordinator.registerStoreClass(FaultyBinaryStore.self, forStoreType: "FaultyBinary")
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("faulty-\(UUID())"), files = FaultyFileSystem()
        FaultyBinaryStore.files.withLock { $0[url.path] = files }
        func coordinator() throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
            try coordinator.addPersistentStore(ofType: "FaultyBinary", configurationName: nil, at: url)
            return coordinator
        }
        func stored(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return try context.fetch(
                NSFetchRequest<NSManagedObject>(entityName: "Tag")).compactMap { $0.value(forKey: "label") as? String }.sorted()
        }
        let first = try coordinator()
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = first
        func insert(_ label: String) {
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue(label, forKey: "label")
        }
        insert("a")
        try context.save()
        insert("b")
        files.failingCall = call
        #expect(failure { try context.save() }?.code == NSPersistentStoreSaveError)
        #expect(context.hasChanges && context.insertedObjects.count == 1)
        #expect(try stored(first) == ["a"])
        files.failingCall = nil
        if call == .syncDirectory {
            // The new archive has the name, which may not be durable.
            let error = failure { try context.save() }
            #expect(error?.code == NSPersistentStoreSaveError && error?.localizedDescription.contains("add it again") == true)
        } else {
            #expect(try stored(try coordinator()) == ["a"])
            try context.save()
            #expect(try stored(first) == ["a", "b"] && stored(try coordinator()) == ["a", "b"])
        }
    }

    @Test
    func `A file that cannot be opened gives the reason and stays as it is`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("binary-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let url = directory.appendingPathComponent("store")
        func open(_ options: [String: Any] = [:], model: NSManagedObjectModel = TestStack.model(), type: String = NSBinaryStoreType) -> NSError? {
            failure {
                try NSPersistentStoreCoordinator(managedObjectModel: model)
                    .addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
            }
        }
        #expect(open([NSReadOnlyPersistentStoreOption: true])?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        let corrupt = CocoaError.Code.fileReadCorruptFile.rawValue
        for (bytes, what, code) in [
            ("bplist00", "not a binary archive", NSPersistentStoreOpenError), ("SQLite format 3\0", "SQLite", NSPersistentStoreOpenError),
            ("HEARTBIN", "ends within its header", corrupt),
        ] {
            try Data(bytes.utf8).write(to: url)
            let error = open()
            #expect(error?.code == code && error?.localizedDescription.contains(what) == true, "\(String(describing: error))")
            #expect(error?.userInfo[NSFilePathErrorKey] as? String == url.path && error?.userInfo[NSUnderlyingErrorKey] is StoreError)
            #expect(try Data(contentsOf: url) == Data(bytes.utf8))
        }
        try FileManager.default.removeItem(at: url)
        #expect(open() == nil)
        let whole = try Data(contentsOf: url)
        let other = TestStack.model()
        other.entitiesByName["Everything"]?.properties.append(TestStack.attribute("more", .stringAttributeType))
        let mismatch = open(model: other)
        #expect(mismatch?.code == NSPersistentStoreIncompatibleVersionHashError && mismatch?.localizedDescription.contains("Everything") == true)
        #expect(open(type: NSRecordLogStoreType)?.localizedDescription.contains("this is a binary archive") == true)
        #expect(try Data(contentsOf: url) == whole)
        // Truncated and damaged at several offsets.
        for index in stride(from: 1, to: whole.count, by: max(1, whole.count / 40)) {
            try whole.prefix(index).write(to: url)
            #expect(open()?.code == (index < 8 ? NSPersistentStoreOpenError : corrupt), "cut at \(index)")
            var damaged = whole
            damaged[index] ^= 1
            try damaged.write(to: url)
            let error = open()
            #expect([NSPersistentStoreOpenError, corrupt].contains(error?.code ?? 0) && (index < 16 || error?.code == corrupt), "byte \(index)")
        }
        let nowhere = failure {
            try NSPersistentStoreCoordinator(managedObjectModel: TestStack.model()).addPersistentStore(
                ofType: NSBinaryStoreType, configurationName: nil, at: directory.appendingPathComponent("missing/store"))
        }
        #expect(nowhere?.code == NSPersistentStoreOpenError)
    }

    @Test
    func `A read-only store is read and not written`() throws {
        let stack = try TestStack(.binary)
        stack.insert("Person", ["name": "a"])
        try stack.context.save()
        let bytes = try Data(contentsOf: stack.url)
        let reader = try TestStack(.binary, at: stack.url, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try names(reader) == ["a"])
        reader.insert("Person", ["name": "b"])
        #expect(failure { try reader.context.save() }?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
        #expect(try Data(contentsOf: stack.url) == bytes)
        stack.insert("Person", ["name": "c"])
        try stack.context.save()
        #expect(try names(reader) == ["a", "c"], "it follows")
    }

    @Test
    func `Requests that only a record log can answer are refused`() throws {
        let stack = try TestStack(.binary)
        let store = stack.coordinator.persistentStores[0]
        #expect(failure { _ = try stack.insertBatch([["name": "a"]]) }?.code == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(failure { _ = try stack.deleteBatch("Person") }?.code == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(failure { try store.compactRecordLog() }?.code == NSPersistentStoreOperationError)
    }

    @Test
    func `A save that changes nothing writes nothing`() throws {
        let stack = try TestStack(.binary)
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        let bytes = try Data(contentsOf: stack.url)
        person.setValue("a", forKey: "name")
        try stack.context.save()
        #expect(try Data(contentsOf: stack.url) == bytes)
    }

    /// It was refused, so that only a program that had loaded the store could set them.
    @Test
    func `Metadata of a store that is not loaded can be set`() throws {
        let scratch = try ScratchDirectory(), url = scratch["a"]
        let stack = try TestStack(.binary, at: url)
        for number in 0..<300 { stack.insert("Person", ["name": "\(number)", "email": String(repeating: "x", count: number) + "\(number)"]) }
        try stack.context.save()
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSBinaryStoreType, at: url)
        // Other coordinators take it over like another's save.
        try NSPersistentStoreCoordinator.setMetadata(
            ["note": "mine", NSStoreUUIDKey: "other", NSStoreTypeKey: "other"], forPersistentStoreOfType: NSBinaryStoreType, at: url, options: nil)
        stack.insert("Person", ["name": "later"])
        try stack.context.save()
        #expect(stack.coordinator.metadata(for: stack.persistentStore)["note"] as? String == "mine")
        try stack.coordinator.remove(stack.persistentStore)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: url.path)
        try NSPersistentStoreCoordinator.setMetadata(
            ["note": "again"], type: .binary, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSBinaryStoreType, at: url)
        #expect(after["note"] as? String == "again" && after.count == before.count + 1)
        for key in [NSStoreUUIDKey, NSStoreTypeKey] { #expect(after[key] as? String == before[key] as? String) }
        #expect((try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue == 0o640)
        #expect(scratch.names == ["a"])
        let again = try TestStack(.binary, at: url)
        #expect(try again.fetch("Person").count == 301 && again.names("name == %@", "299") == ["299"])
        try again.coordinator.remove(again.persistentStore)
        try NSPersistentStoreCoordinator.setMetadata(nil, forPersistentStoreOfType: NSBinaryStoreType, at: url, options: nil)
        #expect(try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSBinaryStoreType, at: url)["note"] == nil)
    }

    @Test
    func `Metadata of a file that is not a binary store is not set`() throws {
        let scratch = try ScratchDirectory()
        try Data("letter".utf8).write(to: scratch["letter"])
        try Data().write(to: scratch["empty"])
        for (name, codes) in [
            ("letter", [NSPersistentStoreOpenError]), ("empty", [NSPersistentStoreOpenError]), ("none", [NSPersistentStoreOpenError, 260])]
        {
            let error = #expect(throws: (any Error).self) {
                try NSPersistentStoreCoordinator.setMetadata(["a": 1], forPersistentStoreOfType: NSBinaryStoreType, at: scratch[name], options: nil)
            }
            #expect(codes.contains((error as NSError?)?.code ?? 0), "\(name): \(String(describing: error))")
        }
        let letter = try Data(contentsOf: scratch["letter"])
        #expect(scratch.names == ["empty", "letter"] && letter == Data("letter".utf8))
    }
}
