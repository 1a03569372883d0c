import Foundation
import RecordLog
import Testing

@testable import Heartwood

@Suite struct DocumentTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func made(_ name: String = "a.heartwood", _ people: String...) async throws -> Manuscript {
        let document = Manuscript(scratch[name])
        try await document.save(to: scratch[name], for: .forCreating)
        for person in people { await document.add(person) }
        try await document.save()
        return document
    }

    // MARK: Opening and closing

    @Test
    func `A document is created, closed and opened again`() async throws {
        let document = Manuscript(scratch["a.heartwood"])
        #expect(document.documentState == .closed && document.localizedName == "a" && scratch.names.isEmpty)
        await document.add("before")
        let heard = Heard([ManagedDocument.stateChangedNotification], of: document)
        try await document.save(to: scratch["b.heartwood"], for: .forCreating)
        #expect(document.documentState == .normal && document.fileURL == scratch["b.heartwood"] && heard.all.count == 1)
        #expect(try Manuscript.names(in: scratch["b.heartwood"]) == ["before"], "what was inserted before is saved")
        let id = await document.add("after")
        #expect(document.hasUnsavedChanges)
        try await document.close()
        #expect(document.documentState == .closed && !document.hasUnsavedChanges && heard.all.count == 2)
        #expect(document.container.persistentStoreCoordinator.persistentStores.isEmpty && id.isTemporaryID)
        try await document.close()
        #expect(try Manuscript.names(in: scratch["b.heartwood"]) == ["after", "before"])
        try await document.open()
        #expect(try await document.names == ["after", "before"])
        try await document.close()
        let again = Manuscript(scratch["b.heartwood"])
        try await again.open()
        #expect(try await again.names == ["after", "before"])
        try await again.close()
        #expect(scratch.names == ["b.heartwood"])
    }

    @Test
    func `A file that cannot be opened is not changed`() async throws {
        let document = Manuscript(scratch["a"])
        #expect(await Manuscript.failure { try await document.open() } == NSPersistentStoreOpenError)
        #expect(await Manuscript.failure { try await document.save() } == NSPersistentStoreOperationError)
        #expect(await Manuscript.failure { try await document.revert(toContentsOf: scratch["a"]) } == NSPersistentStoreOperationError)
        #expect(await Manuscript.failure { try await document.save(to: scratch["none/a"], for: .forCreating) } == NSPersistentStoreOpenError)
        #expect(document.fileURL == scratch["a"] && scratch.names.isEmpty)
        try Data("letter".utf8).write(to: scratch["letter"])
        #expect(await Manuscript.failure { try await document.save(to: scratch["letter"], for: .forCreating) } == NSPersistentStoreOperationError)
        let letter = Manuscript(scratch["letter"])
        #expect(await Manuscript.failure { try await letter.open() } == NSPersistentStoreOpenError)
        #expect(letter.documentState == .closed && letter.container.persistentStoreCoordinator.persistentStores.isEmpty)
        #expect(try Data(contentsOf: scratch["letter"]) == Data("letter".utf8) && scratch.names == ["letter"])
        try await document.save(to: scratch["a"], for: .forCreating)
        #expect(await Manuscript.failure { try await document.open() } == NSPersistentStoreOperationError)
        #expect(await Manuscript.failure { try await document.save(to: scratch["b"], for: .forCreating) } == NSPersistentStoreOperationError)
        try await document.close()
        let other = ManagedDocument(
            fileURL: scratch["a"], managedObjectModel: NSManagedObjectModel(), concurrencyType: .privateQueueConcurrencyType)
        #expect(await Manuscript.failure { try await other.open() } == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test
    func `Completion handlers report success or failure`() async throws {
        let document = Manuscript(scratch["a"])
        func done(_ start: (@escaping @Sendable (Bool) -> Void) -> Void) async -> Bool {
            await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
        }
        #expect(await !done { document.open(completionHandler: $0) })
        #expect(document.events == ["error \(NSPersistentStoreOpenError)"])
        #expect(await done { document.save(to: scratch["a"], for: .forCreating, completionHandler: $0) })
        await document.add("a")
        #expect(await done { document.save(to: scratch["a"], for: .forOverwriting, completionHandler: $0) })
        #expect(await done { document.revert(toContentsOf: scratch["a"], completionHandler: $0) })
        #expect(await done { document.close(completionHandler: $0) })
        #expect(await done { document.open(completionHandler: $0) })
        #expect(try await document.names == ["a"] && document.events.count == 1)
        try await document.close()
    }

    @Test
    func `A document of the main queue is used on it`() async throws {
        let document = Manuscript(scratch["a"], main: true)
        try await document.save(to: scratch["a"], for: .forCreating)
        #expect(document.managedObjectContext === document.container.viewContext)
        await document.add("a")
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a"]) == ["a"])
    }

    @Test
    func `A subclass adds its own stores`() async throws {
        let document = Manuscript(scratch["a"])
        document.besides = scratch["besides"]
        try await document.save(to: scratch["a"], for: .forCreating)
        #expect(document.container.persistentStoreCoordinator.persistentStores.map(\.url) == [scratch["a"], scratch["besides"]])
        try await document.close()
        #expect(document.container.persistentStoreCoordinator.persistentStores.isEmpty)
        document.besides = scratch["none/besides"]
        #expect(await Manuscript.failure { try await document.open() } == NSPersistentStoreOpenError)
        #expect(document.container.persistentStoreCoordinator.persistentStores.isEmpty, "the first one goes too")
    }

    @Test
    func `A document without references is released`() async throws {
        weak var gone: Manuscript?
        do {
            let document = try await made("a", "a")
            document.fileCheckInterval = 0.01
            try await document.close()
            try await document.open()
            gone = document
        }
        try await Manuscript.until { gone == nil }
        #expect(try Manuscript.names(in: scratch["a"]) == ["a"])
    }

    // MARK: Saving by itself

    @Test
    func `A document saves itself some time after the last change`() async throws {
        let document = try await made()
        let log = try #require((document.store as? RecordLogStore)?.log), commits = log.snapshot().sequence
        document.autosaveDelay = 0.4
        let start = ContinuousClock.now
        for name in ["a", "b", "c"] { await document.add(name) }
        let isUnsaved = log.snapshot().sequence == commits && document.hasUnsavedChanges
        // A machine that took so long to get here has had time to save.
        let isInTime = ContinuousClock.now - start < .milliseconds(400)
        #expect(isUnsaved || !isInTime, "not at once")
        try await Manuscript.until { !document.hasUnsavedChanges }
        #expect(ContinuousClock.now - start >= .milliseconds(400))
        #expect(try Manuscript.names(in: scratch["a.heartwood"]) == ["a", "b", "c"])
        #expect(log.snapshot().sequence == commits + 1 || !isInTime, "once for all three")
        document.autosaveDelay = 0.01
        await document.add("d")
        try await Manuscript.until { !document.hasUnsavedChanges }
        document.autosaveDelay = .infinity
        await document.add("e")
        // Ten times the delay of before.
        try await Task.sleep(for: .milliseconds(100))
        #expect(document.hasUnsavedChanges)
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a.heartwood"]) == ["a", "b", "c", "d", "e"])
    }

    @Test
    func `A shorter delay counts from the next change on`() async throws {
        let document = try await made("a")
        document.autosaveDelay = 1000
        await document.add("a")
        document.autosaveDelay = 0.01
        await document.add("b")
        try await Manuscript.until { !document.hasUnsavedChanges }
        #expect(try Manuscript.names(in: scratch["a"]) == ["a", "b"])
        try await document.close()
    }

    @Test(arguments: [TimeInterval.greatestFiniteMagnitude, -.greatestFiniteMagnitude, .nan, -1, 0, 1e10])
    func `Any delay is accepted`(_ delay: TimeInterval) async throws {
        let document = Manuscript(scratch["a"])
        (document.autosaveDelay, document.fileCheckInterval) = (delay, delay)
        try await document.save(to: scratch["a"], for: .forCreating)
        await document.add("a")
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a"]) == ["a"])
    }

    @Test
    func `A new document whose objects cannot be saved is open`() async throws {
        let document = Manuscript(scratch["a"])
        let context = document.managedObjectContext, model = document.managedObjectModel
        // A group must have a title, and this one has none.
        await context.perform { _ = model.entitiesByName["Group"].map { NSManagedObject(entity: $0, insertInto: context) } }
        let code = await Manuscript.failure { try await document.save(to: scratch["a"], for: .forCreating) }
        #expect(code == NSValidationMissingMandatoryPropertyError)
        #expect(document.documentState == .savingError && document.hasUnsavedChanges)
        await context.perform { for object in context.insertedObjects { object.setValue("title", forKey: "title") } }
        try await document.save()
        #expect(document.documentState == .normal && !document.hasUnsavedChanges)
        try await document.close()
        try await document.open()
        let count = try await context.perform { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Group")) }
        #expect(count == 1)
        try await document.close()
    }

    @Test
    func `A failed save is reported and tried again`() async throws {
        let document = try await made("a", "a")
        document.autosaveDelay = 0.01
        let context = document.managedObjectContext
        // A group must have a title, and this one has none.
        let group = await context.perform { NSEntityDescription.insertNewObject(forEntityName: "Group", into: context).objectID }
        try await Manuscript.until { document.documentState == .savingError && !document.events.isEmpty }
        #expect(document.events.first == "error \(NSValidationMissingMandatoryPropertyError)" && document.hasUnsavedChanges)
        #expect(await Manuscript.failure { try await document.close() } == NSValidationMissingMandatoryPropertyError)
        #expect(!document.documentState.contains(.closed), "nothing is lost")
        await context.perform { context.object(with: group).setValue("title", forKey: "title") }
        try await Manuscript.until { document.documentState == .normal && !document.hasUnsavedChanges }
        document.autosaveDelay = .infinity
        await document.add("b")
        await context.perform { context.rollback() }
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a"]) == ["a"])
    }

    // MARK: Saving elsewhere

    @Test
    func `A moved document keeps its objects`() async throws {
        let document = try await made("a", "a")
        let id = await document.add("b"), context = document.managedObjectContext
        let object = await context.perform { Confined(value: context.object(with: id)) }
        #expect(await Manuscript.failure { try await document.save(to: scratch["b"], for: .forOverwriting) } == NSPersistentStoreOperationError)
        try await document.save(to: scratch["b"], for: .forMoving)
        #expect(document.fileURL == scratch["b"] && document.documentState == .normal && !document.hasUnsavedChanges)
        #expect(try Manuscript.names(in: scratch["a"]) == ["a"], "as it was saved last")
        #expect(try Manuscript.names(in: scratch["b"]) == ["a", "b"])
        await context.perform { object.value.setValue("changed", forKey: "name") }
        try await document.save(to: scratch["b"], for: .forOverwriting)
        #expect(try Manuscript.names(in: scratch["b"]) == ["a", "changed"] && Manuscript.names(in: scratch["a"]) == ["a"])
        try await document.close()
    }

    @Test
    func `A copy is made and the document keeps its file`() async throws {
        let document = try await made("a", "a")
        await document.add("b")
        try await document.save(to: scratch["b"], for: .forCopying)
        #expect(document.fileURL == scratch["a"])
        await document.add("c")
        try await document.close()
        #expect(try Manuscript.names(in: scratch["b"]) == ["a", "b"] && Manuscript.names(in: scratch["a"]) == ["a", "b", "c"])
    }

    @Test(arguments: [ManagedDocument.SaveOperation.forMoving, .forCopying])
    func `An existing file is not overwritten`(operation: ManagedDocument.SaveOperation) async throws {
        let document = try await made("a", "a")
        try Data("letter".utf8).write(to: scratch["letter"])
        for name in ["letter", "a", "none/b"] {
            #expect(await Manuscript.failure { try await document.save(to: scratch[name], for: operation) } == NSPersistentStoreOperationError)
            #expect(document.fileURL == scratch["a"] && scratch.names == ["a", "letter"])
        }
        #expect(try Data(contentsOf: scratch["letter"]) == Data("letter".utf8))
        await document.add("b")
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a"]) == ["a", "b"])
    }

    // MARK: Undoing and reverting

    @Test
    func `Changes can be undone after a save too`() async throws {
        let document = try await made("a", "a")
        await document.add("b")
        try await document.save()
        let context = document.managedObjectContext
        await context.perform { document.undoManager?.undo() }
        #expect(document.hasUnsavedChanges)
        #expect(try await document.names == ["a"])
        try await document.save()
        #expect(try Manuscript.names(in: scratch["a"]) == ["a"])
        await context.perform { document.undoManager?.redo() }
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a"]) == ["a", "b"])
        #expect(await context.perform { document.undoManager?.canUndo } == false)
        let plain = Manuscript(scratch["a"])
        plain.hasUndoManager = false
        try await plain.open()
        #expect(await plain.managedObjectContext.perform { plain.undoManager == nil })
        try await plain.close()
    }

    @Test
    func `A revert shows the file's content`() async throws {
        let document = try await made("a", "a")
        let context = document.managedObjectContext
        let kept = try await context.perform {
            Confined(value: try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first))
        }
        await document.add("b")
        await context.perform { kept.value.setValue("changed", forKey: "name") }
        try await document.revert(toContentsOf: scratch["a"])
        #expect(!document.hasUnsavedChanges && document.fileURL == scratch["a"])
        #expect(await context.perform { kept.value.value(forKey: "name") as? String == "a" && document.undoManager?.canUndo == false })
        // Other programs' saves are shown too.
        let other = Manuscript(scratch["a"])
        try await other.open()
        await other.add("theirs")
        try await other.close()
        try await document.revert(toContentsOf: scratch["a"])
        #expect(try await document.names == ["a", "theirs"])
        try await document.close()
    }

    @Test
    func `A backup can be restored`() async throws {
        let document = try await made("a", "a")
        try await document.save(to: scratch["backup"], for: .forCopying)
        let stranger = try await made("stranger", "x", "y")
        try await stranger.close()
        await document.add("b")
        try await document.save()
        let kept = await document.add("unsaved")
        try Data("letter".utf8).write(to: scratch["letter"])
        let smaller = NSManagedObjectModel(), entity = NSEntityDescription()
        entity.name = "Person"
        smaller.entities = [entity]
        let odd = ManagedDocument(fileURL: scratch["odd"], managedObjectModel: smaller, concurrencyType: .privateQueueConcurrencyType)
        try await odd.save(to: scratch["odd"], for: .forCreating)
        try await odd.close()
        for (name, wanted) in [
            ("letter", NSPersistentStoreOpenError), ("none", CocoaError.Code.fileReadNoSuchFile.rawValue),
            ("odd", NSPersistentStoreIncompatibleVersionHashError),
        ] {
            #expect(await Manuscript.failure { try await document.revert(toContentsOf: scratch[name]) } == wanted)
            #expect(document.hasUnsavedChanges, "nothing is dropped")
        }
        #expect(try await document.names == ["a", "b", "unsaved"] && kept.isTemporaryID)
        for (name, wanted) in [("backup", ["a"]), ("stranger", ["x", "y"])] {
            try await document.revert(toContentsOf: scratch[name])
            #expect(try await document.names == wanted && document.documentState == .normal && document.fileURL == scratch["a"])
            #expect(!document.hasUnsavedChanges)
        }
        await document.add("z")
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a"]) == ["x", "y", "z"] && Manuscript.names(in: scratch["stranger"]) == ["x", "y"])
        #expect(scratch.names == ["a", "backup", "letter", "odd", "stranger"])
    }
}
