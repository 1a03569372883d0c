import Foundation
import Testing

@testable import Heartwood

@Suite struct StagedMigrationTests {
    /// V1 to V3 cannot be inferred at once: a property renamed from V1 to V2 is renamed again.
    private static let versions: [Sketch] = [
        "A: name:string size:int32", "A: title:string~name size:int32", "A: heading:string~title size:int32!",
        "A: heading:string size:int32! more:string",
    ]
    private let models = StagedMigrationTests.versions.map(\.model)
    private var checksums: [String] { models.map(\.versionChecksum) }

    private func reference(_ version: Int) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: Self.versions[version - 1].model, versionChecksum: checksums[version - 1])
    }

    private func custom(_ from: Int, _ to: Int) -> NSCustomMigrationStage {
        NSCustomMigrationStage(migratingFrom: reference(from), to: reference(to))
    }

    private func filled(_ kind: StoreKind = .recordLog, version: Int = 1) throws -> Chain {
        let chain = try Chain(kind)
        try chain.with(Self.versions[version - 1]) { context in
            for (name, size) in [("x", 1), ("y", nil)] as [(String, Int?)] {
                context.make("A", [version == 1 ? "name" : version == 2 ? "title" : "heading": name, "size": size ?? (version > 2 ? 0 : nil)])
            }
        }
        return chain
    }

    private func options(_ stages: [NSMigrationStage]) -> [AnyHashable: Any] {
        var options: [AnyHashable: Any] = Chain.automatic
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager(stages)
        return options
    }

    /// Gives every object a size, so that it can be required.
    private func filling(_ stage: NSCustomMigrationStage) -> NSCustomMigrationStage {
        stage.label = "sizes"
        stage.willMigrateHandler = { manager, _ in
            let context = try #require(manager.container).newBackgroundContext()
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "A")
                request.predicate = NSPredicate(format: "size == nil")
                for object in try context.fetch(request) { object.setValue(-1, forKey: "size") }
                try context.save()
            }
        }
        return stage
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A store goes through every stage`(kind: StoreKind) throws {
        for version in 1...3 {
            let chain = try filled(kind, version: version)
            var order: [String] = []
            let stage = filling(custom(2, 3))
            let will = stage.willMigrateHandler
            stage.willMigrateHandler = { manager, stage in
                order.append("will \(stage.label ?? "")")
                #expect(manager.container?.managedObjectModel.entitiesByName["A"]?.attributesByName["title"] != nil)
                try will?(manager, stage)
            }
            stage.didMigrateHandler = { manager, _ in
                order.append("did")
                let context = try #require(manager.container?.viewContext)
                try context.performAndWait {
                    for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")) {
                        object.setValue("\(object.value(forKey: "heading") as? String ?? "")!", forKey: "heading")
                    }
                    try context.save()
                }
            }
            let manager = NSStagedMigrationManager(
                [NSLightweightMigrationStage([checksums[0]]), stage, NSLightweightMigrationStage([checksums[3]])])
            var options: [AnyHashable: Any] = Chain.automatic
            options[NSPersistentStoreStagedMigrationManagerOptionKey] = manager
            let mark = version < 3 ? "!" : "", missing = version < 3 ? "-1" : "0"
            #expect(
                try chain.lines(models[3], options: options)
                    == ["A: heading=x\(mark) more=nil size=1", "A: heading=y\(mark) more=nil size=\(missing)"], "from \(version)")
            #expect(order == (version < 3 ? ["will sizes", "did"] : []) && manager.container == nil)
            #expect(try chain.metadata()[RecordLogMetadata.unfinishedStage] == nil && chain.scratch.names == ["store"])
        }
    }

    /// Apple's implementation fails here: consecutive stages that are all lightweight, whose first and last versions have no common names.
    @Test
    func `A migration of only lightweight stages goes version by version`() throws {
        for stages in [[[0, 1, 2]], [[0], [1], [2]], [[0, 1], [1, 2]]] {
            let chain = try Chain()
            try chain.with(Self.versions[0]) { $0.make("A", ["name": "x", "size": 1]) }
            var list: [NSMigrationStage] = stages.map { NSLightweightMigrationStage($0.map { checksums[$0] }) }
            // This stage has the models of these checksums; the migration does not execute it.
            list.insert(custom(2, 3), at: 0)
            list.append(list.removeFirst())
            #expect(try chain.lines(models[2], options: options(list)) == ["A: heading=x size=1"], "\(stages)")
        }
    }

    @Test
    func `An unfinished stage is finished later`() throws {
        struct Refusal: Error {}
        for last in [3, 4] {
            let chain = try filled()
            let stage = filling(custom(2, 3))
            var calls = 0
            stage.didMigrateHandler = { _, _ in
                calls += 1
                if calls == 1 { throw Refusal() }
            }
            let stages = [NSLightweightMigrationStage([checksums[0]]), stage]
            #expect(throws: Refusal.self) { try chain.with(models[last - 1], options: options(stages)) { _ in } }
            #expect(
                try chain.metadata()[NSStoreModelVersionHashesKey] as? [String: Data] == models[2].entityVersionHashesByName,
                "the store came so far")
            #expect(try chain.lines(models[last - 1], options: options(stages)).count == 2)
            #expect(calls == 2)
            #expect(try chain.lines(models[last - 1], options: options(stages)).count == 2)
            #expect(calls == 2, "once it was ended it is not called again")
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Metadata that a handler sets does not end the stage`(kind: StoreKind) throws {
        struct Refusal: Error {}
        let chain = try filled(kind), stage = filling(custom(2, 3))
        var calls = 0
        stage.didMigrateHandler = { manager, _ in
            calls += 1
            let coordinator = try #require(manager.container?.persistentStoreCoordinator)
            coordinator.setMetadata(["calls": calls], for: coordinator.persistentStores[0])
            if calls == 1 { throw Refusal() }
        }
        let stages = [NSLightweightMigrationStage([checksums[0]]), stage]
        #expect(throws: Refusal.self) { try chain.with(models[2], options: options(stages)) { _ in } }
        for _ in 0..<2 { #expect(try chain.lines(models[2], options: options(stages)).count == 2) }
        #expect(try calls == 2 && chain.metadata()["calls"] as? Int == 2 && chain.metadata()[RecordLogMetadata.unfinishedStage] == nil)
    }

    /// The container's context is the main queue's, whichever queue adds the store.
    @Test
    func `No context is used on another's queue`() async {
        await #expect(processExitsWith: .success) {
            setenv(ConcurrencyDebug.variable, "1", 1)
            let tests = StagedMigrationTests()
            let chain = try tests.filled(),
                manager = NSStagedMigrationManager([NSLightweightMigrationStage([tests.checksums[0]]), tests.custom(2, 3)])
            try chain.with(Self.versions[0]) {
                try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).forEach { $0.setValue(1, forKey: "size") }
            }
            let container = NSPersistentContainer(name: "Test", managedObjectModel: tests.models[2])
            let description = NSPersistentStoreDescription(url: chain.url)
            description.shouldAddStoreAsynchronously = true
            description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
            container.persistentStoreDescriptions = [description]
            try await container.loadPersistentStores()
        }
    }

    @Test
    func `A stage that fails at its beginning begins again`() throws {
        struct Refusal: Error {}
        let chain = try filled()
        let stage = custom(2, 3)
        stage.willMigrateHandler = { _, _ in throw Refusal() }
        let first = NSLightweightMigrationStage([checksums[0]])
        #expect(throws: Refusal.self) { try chain.with(models[2], options: options([first, stage])) { _ in } }
        #expect(
            try chain.metadata()[NSStoreModelVersionHashesKey] as? [String: Data] == models[1].entityVersionHashesByName, "the store came so far")
        // The migration itself finds the missing value.
        stage.willMigrateHandler = nil
        let error = #expect(throws: (any Error).self) { try chain.with(models[2], options: options([first, stage])) { _ in } } as NSError?
        #expect(code(error) == NSMigrationError && error?.userInfo["property"] as? String == "size")
        #expect(try chain.lines(models[2], options: options([first, filling(stage)])).count == 2)
    }

    @Test
    func `References to unknown models are reported`() throws {
        let chain = try filled()
        func failure(_ stages: [NSMigrationStage], _ version: Int = 3, sourceLocation: SourceLocation = #_sourceLocation) -> NSError? {
            #expect(throws: (any Error).self, sourceLocation: sourceLocation) { try chain.with(models[version - 1], options: options(stages)) { _ in } } as NSError?
        }
        let stranger = NSManagedObjectModelReference(model: models[0], versionChecksum: "checksum of another framework")
        #expect((try? stranger.resolve()) == nil)
        let first = NSLightweightMigrationStage([checksums[0]])
        #expect(code(
            failure([first, NSCustomMigrationStage(migratingFrom: stranger, to: reference(3))])) == NSStagedMigrationFrameworkVersionMismatchError)
        let missing = NSManagedObjectModelReference(name: "Nothing", in: nil, versionChecksum: checksums[1])
        #expect(
            code(failure([first, NSCustomMigrationStage(migratingFrom: missing, to: reference(3))])) == NSManagedObjectModelReferenceNotFoundError)
        #expect(code(failure([custom(2, 3)])) == NSManagedObjectModelReferenceNotFoundError, "no stage names the store's version")
        let later = try filled(version: 3)
        let backward = #expect(throws: (any Error).self) {
            try later.with(models[0], options: options([NSLightweightMigrationStage(checksums)])) { _ in }
        }
        #expect(code(backward) == NSStagedMigrationBackwardMigrationError)
    }

    @Test
    func `A reference finds its model`() throws {
        let scratch = try ScratchDirectory()
        let folder = scratch["Library.xcdatamodeld/v1.xcdatamodel"]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("<?xml version=\"1.0\"?><model><entity name=\"A\"><attribute name=\"n\" attributeType=\"String\"/></entity></model>".utf8)
            .write(to: folder.appendingPathComponent("contents"))
        let model = try NSManagedObjectModel.load(contentsOf: folder), checksum = model.versionChecksum
        #expect(NSManagedObjectModelReference(fileURL: folder, versionChecksum: checksum).resolvedModel.entitiesByName["A"] != nil)
        #expect((try? NSManagedObjectModelReference(fileURL: scratch["none"], versionChecksum: checksum).resolve()) == nil)
        if let bundle = Bundle(path: scratch.directory.path) {
            let named = NSManagedObjectModelReference(name: "v1", in: bundle, versionChecksum: checksum)
            #expect(named.resolvedModel.versionChecksum == checksum && named.versionChecksum == checksum)
            let hashed = NSManagedObjectModelReference(entityVersionHashes: model.entityVersionHashesByName, in: bundle, versionChecksum: checksum)
            #expect(hashed.resolvedModel.versionChecksum == checksum)
        }
    }
}
