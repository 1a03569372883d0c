import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// A store that is opened with the model of another program.
@Suite struct UnrelatedModelTests {
    private static let notes: Sketch = "Note: text:string tags>>Tag/notes\nTag: name:string notes>>Note/tags"
    private static let bank: Sketch = "Account: number:string entries>>Entry/account\nEntry: amount:int32 account>Account/entries"
    private static let written = ["Note: tags=[\"t\"] text=a", "Tag: name=t notes=[\"Note\"]"]

    private func filled(_ kind: StoreKind, _ sketch: Sketch = notes) throws -> Chain {
        let chain = try Chain(kind)
        try chain.with(sketch) { context in
            context.make("Note", ["text": "a", "tags": Set([context.make("Tag", ["name": "t"])])])
        }
        return chain
    }

    private static var accepting: [AnyHashable: Any] {
        Chain.automatic.merging([NSMigratePersistentStoresToUnrelatedModelsOption: true]) { $1 }
    }

    private func refusal(_ chain: Chain, _ sketch: Sketch, _ options: [AnyHashable: Any] = Chain.automatic) throws -> NSError? {
        let before = try Data(contentsOf: chain.url)
        let error = #expect(throws: (any Error).self) { try chain.with(sketch, options: options) { _ in } }
        #expect(try Data(contentsOf: chain.url) == before && chain.scratch.names == ["store"])
        return error as NSError?
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A store with objects is not migrated to a model without one of its entities`(kind: StoreKind) throws {
        let chain = try filled(kind), error = try refusal(chain, Self.bank)
        #expect(code(error) == NSMigrationMissingMappingModelError)
        #expect(code(error?.userInfo[NSUnderlyingErrorKey] as? NSError) == NSInferredMappingModelError)
        let text = error?.localizedDescription ?? ""
        for part in [chain.url.path, "Account, Entry", "Note, Tag", "2 objects: 1 of Note, 1 of Tag", "shouldMigrateStoreToUnrelatedModel"] {
            #expect(text.contains(part), "\(text)")
        }
        #expect((error?.userInfo["sourceModel"] as? NSManagedObjectModel)?.entitiesByName["Note"] != nil)
        #expect((error?.userInfo["destinationModel"] as? NSManagedObjectModel)?.entitiesByName["Entry"] != nil)
        // The first program finds everything.
        #expect(try chain.lines(Self.notes) == Self.written)
        #expect(try chain.lines(Self.bank, options: Self.accepting) == [])
    }

    /// An abstract entity has no objects that could go on. An entity that is renamed goes on.
    @Test(arguments: [StoreKind.recordLog, .binary])
    func `What counts as an entity in common`(kind: StoreKind) throws {
        let parent: Sketch = "*Base: id:string\nNote < Base: text:string tags>>Tag/notes\nTag < Base: name:string notes>>Note/tags"
        #expect(code(try refusal(filled(kind, parent), "*Base: id:string\nAccount < Base: number:string")) == NSMigrationMissingMappingModelError)
        #expect(try filled(kind).lines("Memo~Note: text:string\nAccount: number:string") == ["Memo: text=a"])
        #expect(try filled(kind).lines("Tag: name:string\nAccount: number:string") == ["Tag: name=t"])
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A store without objects is migrated to any model`(kind: StoreKind) throws {
        let chain = try filled(kind)
        try chain.with(Self.notes) { context in
            for object in try ["Note", "Tag"].flatMap({ try context.fetch(NSFetchRequest<NSManagedObject>(entityName: $0)) }) { context.delete(object) }
        }
        try chain.with(Self.bank) { $0.make("Entry", ["amount": 1]) }
        #expect(try chain.lines(Self.bank) == ["Entry: account=- amount=1"])
    }

    @Test
    func `A container asks by its description`() async throws {
        let chain = try filled(.recordLog)
        func load(_ accepts: Bool) async throws -> NSPersistentContainer {
            let container = NSPersistentContainer(name: "Bank", managedObjectModel: Self.bank.model)
            let description = NSPersistentStoreDescription(url: chain.url)
            #expect(!description.shouldMigrateStoreToUnrelatedModel)
            description.shouldMigrateStoreToUnrelatedModel = accepts
            #expect(description.options[NSMigratePersistentStoresToUnrelatedModelsOption] == NSNumber(value: accepts))
            container.persistentStoreDescriptions = [description]
            try await container.loadPersistentStores()
            return container
        }
        await #expect(performing: { _ = try await load(false) }, throws: { code($0) == NSMigrationMissingMappingModelError })
        #expect(try chain.lines(Self.notes) == Self.written)
        let loaded = try await load(true)
        #expect(try await loaded.performBackgroundTask { try $0.lines() } == [])
    }

    /// Somebody who lists both versions, or maps one to the other, has said what is to happen.
    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Stages and mapping models need no option`(kind: StoreKind) throws {
        let old = Self.notes.model, new = Self.bank.model
        func staged(_ stages: [NSMigrationStage]) -> [AnyHashable: Any] {
            Chain.automatic.merging([NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages)]) { $1 }
        }
        let references = [old, new].map { NSManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum) }
        let custom = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        #expect(try filled(kind).lines(Self.bank, options: staged([custom])) == [])
        let listed = NSLightweightMigrationStage([old.versionChecksum, new.versionChecksum])
        #expect(try filled(kind).lines(Self.bank, options: staged([listed])) == [])
        // The coordinator's version is in no stage.
        let unlisted = NSLightweightMigrationStage([old.versionChecksum])
        #expect(code(try refusal(filled(kind), Self.bank, staged([unlisted]))) == NSMigrationMissingMappingModelError)

        let chain = try filled(kind), mapping = NSEntityMapping(), model = NSMappingModel()
        mapping.name = "NoteToAccount"
        mapping.mappingType = .transformEntityMappingType
        (mapping.sourceEntityName, mapping.destinationEntityName) = ("Note", "Account")
        mapping.sourceEntityVersionHash = old.entitiesByName["Note"]?.versionHash
        mapping.destinationEntityVersionHash = new.entitiesByName["Account"]?.versionHash
        mapping.sourceExpression = NSMappingModel.sourceExpression("Note")
        let number = NSPropertyMapping()
        number.name = "number"
        number.valueExpression = NSExpression(format: "$source.text")
        mapping.attributeMappings = [number]
        model.entityMappings = [mapping]
        try StoreMigrator(MigrationEnd(url: chain.url, type: kind.type, options: Chain.automatic, configuration: nil))
            .migrate(to: new, by: model, isAutomatic: false, infers: false)
        #expect(try chain.lines(Self.bank) == ["Account: entries=[] number=a"])
    }

    /// The SQLite store of another app, at the record log's URL or beside it.
    @Test(arguments: [false, true])
    func `An SQLite store of an unrelated model is not converted`(isBeside: Bool) throws {
        let golden = CoreDataStoreFiles.folder.appendingPathComponent("Goldens/dangling.sqlite")
        let scratch = try ScratchDirectory(), model = Self.bank.model
        try FileManager.default.copyItem(at: golden, to: scratch["App.sqlite"])
        let before = try Data(contentsOf: scratch["App.sqlite"])
        func load(_ accepts: Bool) -> NSError? {
            let container = NSPersistentContainer(name: "App", managedObjectModel: model)
            let description = isBeside
                ? NSPersistentStoreDescription(url: scratch["App.heartwood"], neighbor: scratch["App.sqlite"])
                : NSPersistentStoreDescription(url: scratch["App.sqlite"])
            description.shouldMigrateStoreToUnrelatedModel = accepts
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { _, error in failure = error }
            for store in container.persistentStoreCoordinator.persistentStores { try? container.persistentStoreCoordinator.remove(store) }
            return failure as NSError?
        }
        let error = load(false)
        #expect(code(error) == NSMigrationMissingMappingModelError && error?.localizedDescription.contains("Account, Entry") == true, "\(error as Any)")
        #expect(try Data(contentsOf: scratch["App.sqlite"]) == before && scratch.names == ["App.sqlite"])
        #expect(load(true) == nil)
        #expect(scratch.names == (isBeside ? ["App.heartwood", "App.sqlite"] : ["App.sqlite", "App.sqlite-original"]))
    }
}
