import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Refused stores: each gives one of Core Data's errors with a remedy, and no file is made or damaged.
@Suite struct BadStoreTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func model(_ change: (NSManagedObjectModel) -> Void = { _ in }) -> NSManagedObjectModel {
        let model = TestStack.model()
        change(model)
        return model
    }

    /// Adds a store, which fails, and checks that nothing has changed in the directory.
    private func refusal(
        _ url: URL?, _ model: NSManagedObjectModel? = nil, type: String = NSRecordLogStoreType, configuration: String? = nil,
        options: [AnyHashable: Any]? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) -> NSError? {
        let before = scratch.contents
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? self.model())
        let error = #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
            try coordinator.addPersistentStore(ofType: type, configurationName: configuration, at: url, options: options)
        }
        #expect(coordinator.persistentStores.isEmpty && scratch.contents == before, sourceLocation: sourceLocation)
        return error as NSError?
    }

    private func says(_ error: NSError?, _ wanted: Int, _ texts: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(code(error) == wanted, sourceLocation: sourceLocation)
        for text in texts {
            #expect(error?.localizedDescription.contains(text) == true, "\(error.map { "\($0)" } ?? "")", sourceLocation: sourceLocation)
        }
    }

    private func make(_ url: URL, _ model: NSManagedObjectModel? = nil, configuration: String? = nil) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? self.model())
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: configuration, at: url)
        try coordinator.remove(store)
    }

    @Test
    func `A store of another model is refused with the differences`() throws {
        try make(scratch["a"])
        let extra = NSEntityDescription()
        extra.name = "Extra"
        let other = model { model in
            model.entitiesByName["Group"]?.attributesByName["title"]?.isOptional = true
            model.entities = model.entities.filter { $0.name != "Everything" } + [extra]
        }
        let error = refusal(scratch["a"], other)
        says(
            error, NSPersistentStoreIncompatibleVersionHashError, "changed: Group", "only in the model: Extra", "only in the store: Everything",
            "mergedModel")
        #expect(error?.userInfo[NSChangedEntitiesErrorKey] as? [String] == ["Group"])
        #expect(error?.userInfo[NSAddedEntitiesErrorKey] as? [String] == ["Extra"])
        #expect(error?.userInfo[NSRemovedEntitiesErrorKey] as? [String] == ["Everything"])
        #expect(error?.userInfo[NSFilePathErrorKey] as? String == scratch["a"].path)
        #expect((error?.userInfo["metadata"] as? [String: Any])?[NSStoreUUIDKey] != nil)
        try make(scratch["a"])
    }

    @Test
    func `A store of a configuration reports only its entities`() throws {
        let configured = { self.model { $0.setEntities([$0.entitiesByName["Everything"]!], forConfigurationName: "C") } }
        try make(scratch["c"], configured(), configuration: "C")
        let changed = configured()
        changed.entitiesByName["Everything"]?.attributesByName["int16"]?.isOptional = false
        let error = refusal(scratch["c"], changed, configuration: "C")
        says(error, NSPersistentStoreIncompatibleVersionHashError, "(its configuration \"C\")", "(changed: Everything)")
        #expect(error?.userInfo[NSAddedEntitiesErrorKey] == nil)
    }

    @Test
    func `A configuration that does not exist is refused`() {
        let configured = model { $0.setEntities([$0.entitiesByName["Everything"]!], forConfigurationName: "C") }
        says(refusal(scratch["a"], configured, configuration: "D"), NSPersistentStoreOperationError, "\"D\"", "[\"C\"]")
    }

    @Test
    func `Locations that hold no store are refused`() throws {
        says(refusal(scratch["none/a"]), NSPersistentStoreOpenError, "the directory \(scratch["none"].path) does not exist", "Make it first")
        try FileManager.default.createDirectory(at: scratch["folder"], withIntermediateDirectories: true)
        let error = refusal(scratch["folder"])
        says(error, NSPersistentStoreOpenError, "not of a directory")
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .isDirectory)
        try Data(repeating: 7, count: 20_000).write(to: scratch["letter"])
        says(refusal(scratch["letter"]), NSPersistentStoreOpenError, "not a Heartwood store")
        says(refusal(scratch["letter/a"]), NSPersistentStoreOpenError)
        says(refusal(nil), NSPersistentStoreOpenError, "needs a file URL")
        says(refusal(URL(string: "https://x.y/z")), NSPersistentStoreOpenError, "needs a file URL", "https://x.y/z")
        says(
            refusal(scratch["a"], options: [NSReadOnlyPersistentStoreOption: true]), CocoaError.Code.fileReadNoSuchFile.rawValue,
            "there is no such file",
            "for writing once")
    }

    @Test
    func `An unknown type is refused, and an SQLite store that is not there`() {
        says(refusal(scratch["a"], type: "Paper"), NSPersistentStoreInvalidTypeError, "\"Paper\"", "RecordLog")
        says(refusal(scratch["a"], type: NSSQLiteStoreType), CocoaError.Code.fileReadNoSuchFile.rawValue, "no such file", "NSRecordLogStoreType")
    }

    @Test
    func `One store is added once`() throws {
        try make(scratch["a"])
        try FileManager.default.createSymbolicLink(at: scratch["link"], withDestinationURL: scratch["a"])
        try FileManager.default.copyItem(at: scratch["a"], to: scratch["copy"])
        let container = NSPersistentContainer(name: "Test", managedObjectModel: model())
        container.persistentStoreDescriptions = ["a", "a", "link", "copy"].map { NSPersistentStoreDescription(url: scratch[$0]) }
        var errors: [NSError?] = []
        let names = scratch.names
        container.loadPersistentStores { errors.append($1 as NSError?) }
        #expect(errors.map { code($0) } == [nil] + Array(repeating: NSPersistentStoreOperationError, count: 3))
        says(errors[1], NSPersistentStoreOperationError, "was added to this coordinator already")
        for error in errors[2...] { says(error, NSPersistentStoreOperationError, "or a copy of its file", scratch["a"].path) }
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1 && scratch.names == names)
        let context = container.persistentStoreCoordinator.newContext()
        _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        try context.save()
    }

    /// The index over values that cannot be compared is detected after the file is made.
    @Test
    func `A store that cannot be made leaves no file`() throws {
        let odd = model { model in
            let photo = TestStack.attribute("photo", .binaryDataAttributeType)
            photo.allowsExternalBinaryDataStorage = true
            model.entitiesByName["Tag"]?.properties.append(photo)
            model.entitiesByName["Tag"]?.indexes = [TestStack.index("byPhoto", [photo])]
        }
        #expect(refusal(scratch["a"], odd) != nil)
        #expect(scratch.names.isEmpty)
    }

    /// Slots of removed stores are used again after all have been used.
    @Test
    func `Stores can be added and removed many times`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        for number in 0..<250 {
            let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            let context = coordinator.newContext()
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("\(number)", forKey: "label")
            try context.save()
            let tags = try coordinator.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            #expect(tags.map { $0.value(forKey: "label") as? String } == ["\(number)"])
            try coordinator.remove(store)
        }
        var count = 0
        let error = #expect(throws: (any Error).self) {
            while count < 1000 {
                try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
                count += 1
            }
        }
        #expect(count > 200 && count < 1000)
        #expect(code(error) == NSPersistentStoreOperationError)
    }
}
