import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import Heartwood

/// The table of modes in docs/refusals.md, "Modes", for the files and folders that the library makes. `FileModeTests` has those of the tool,
/// `ReplacedFileTests` the owners.
@Suite struct StoreModeTests {
    private static func mode(_ url: URL) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
    }

    private static func set(_ mode: Int, of url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }

    /// The mode of a new store.
    private static var fresh: Int {
        let mask = umask(0)
        _ = umask(mask)
        return 0o644 & ~Int(mask)
    }

    @Test(arguments: [StoreKind.recordLog, .binary], [0o600, 0o640, 0o664])
    func `A new store has the mode of any new file, and saves keep the mode that it gets`(kind: StoreKind, mode: Int) throws {
        let scratch = try ScratchDirectory(), url = scratch["a"], stack = try TestStack(kind, at: url)
        stack.insert("Person", ["name": "a"])
        try stack.context.save()
        #expect(Self.mode(url) == Self.fresh)
        try Self.set(mode, of: url)
        for number in 0..<3 {
            stack.insert("Person", ["name": "\(number)"])
            try stack.context.save()
            #expect(Self.mode(url) == mode && scratch.names == ["a"])
        }
        // A binary archive is replaced by each save: the new file is never open to more than the old one's readers.
        let (type, other) = (kind.type, scratch["b"])
        try stack.coordinator.migratePersistentStore(stack.persistentStore, to: other, withType: type)
        #expect(Self.mode(other) == mode)
    }

    /// Looks at the folder of the migration that it works for.
    final class Watcher: NSEntityMigrationPolicy {
        static let seen = Mutex<[String: [String: Int]]>([:])

        override func createDestinationInstances(
            forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            guard let url = manager.sourceContext.persistentStoreCoordinator?.persistentStores.first?.url else { return }
            let folder = URL(fileURLWithPath: url.resolvingSymlinksInPath().path + ".migrating")
            var modes = ["": StoreModeTests.mode(folder) ?? -1]
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
                modes[name] = StoreModeTests.mode(folder.appendingPathComponent(name)) ?? -1
            }
            Self.seen.withLock { [modes] in $0[url.lastPathComponent + url.deletingLastPathComponent().lastPathComponent] = modes }
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary], [0o600, 0o644])
    func `A migration works in a folder that only the owner can enter, and leaves the store its mode and no folder`(
        kind: StoreKind, mode: Int
    ) throws {
        let old: Sketch = "A: name:string", new: Sketch = "A: title:string~name"
        let chain = try Chain(kind)
        try chain.with(old) { $0.make("A", ["name": "x"]) }
        try Self.set(mode, of: chain.url)
        let mapping = NSMappingModel(inferredFrom: try ModelComparison(from: old.model, to: new.model))
        mapping.entityMappings[0].entityMigrationPolicyClassName = NSStringFromClass(Watcher.self)
        let migrator = try StoreMigrator(MigrationEnd(url: chain.url, type: kind.type, options: [NSRecordLogDurabilityOption: "none"]))
        try migrator.migrate(to: new.model, by: mapping, isAutomatic: false, infers: false)
        let key = "store" + chain.scratch.directory.lastPathComponent
        let seen = try #require(Watcher.seen.withLock { $0[key] })
        #expect(seen[""] == 0o700 && seen[".heartwood-migration"] == 0o600 && seen.count >= 2, "\(seen)")
        #expect(Self.mode(chain.url) == mode && chain.scratch.names == ["store"])
        #expect(try chain.lines(new, options: nil) == ["A: title=x"])
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A replacement works in a folder that is gone at its end, and a copy has the source's mode`(kind: StoreKind) throws {
        let sketch: Sketch = "A: name:string", chain = try Chain(kind)
        try chain.with(sketch) { $0.make("A", ["name": "x"]) }
        try Self.set(0o640, of: chain.url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: sketch.model)
        try coordinator.replacePersistentStore(at: chain.scratch["new"], withPersistentStoreFrom: chain.url, ofType: kind.type)
        #expect(Self.mode(chain.scratch["new"]) == 0o640 && chain.scratch.names == ["new", "store"])
    }

    @Test(arguments: [0o600, 0o640])
    func `A document's file is a new file; saves, moves, copies and reverts keep its mode`(mode: Int) async throws {
        let scratch = try ScratchDirectory(), document = Manuscript(scratch["a"])
        try await document.save(to: scratch["a"], for: .forCreating)
        #expect(Self.mode(scratch["a"]) == Self.fresh)
        try Self.set(mode, of: scratch["a"])
        await document.add("first")
        try await document.save()
        try await document.save(to: scratch["copy"], for: .forCopying)
        try await document.save(to: scratch["moved"], for: .forMoving)
        for name in ["a", "copy", "moved"] { #expect(Self.mode(scratch[name]) == mode, "\(name)") }
        try Self.set(0o644, of: scratch["copy"])
        try await document.revert(toContentsOf: scratch["copy"])
        #expect(Self.mode(scratch["moved"]) == mode && scratch.names == ["a", "copy", "moved"])
        try await document.close()
        #expect(Self.mode(scratch["moved"]) == mode)
    }

    @Test(arguments: [0o600, 0o644])
    func `A document migrates what it reverts to in a copy with that file's mode, and keeps its own`(mode: Int) async throws {
        let versions: [Sketch] = ["A: name:string", "A: title:string~name"], chain = try Chain(), scratch = try ScratchDirectory()
        try chain.with(versions[0]) { $0.make("A", ["name": "x"]) }
        try Self.set(mode, of: chain.url)
        let references = versions.map { NSManagedObjectModelReference(model: $0.model, versionChecksum: $0.model.versionChecksum) }
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1]), copy = scratch["a.reverting"]
        let seen = SeenModes()
        stage.willMigrateHandler = { _, _ in seen.modes.withLock { $0.append(Self.mode(copy)) } }
        let document = ManagedDocument(
            fileURL: scratch["a"], managedObjectModel: versions[1].model, concurrencyType: .privateQueueConcurrencyType)
        document.persistentStoreOptions = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSRecordLogDurabilityOption: "none", NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage]),
        ]
        try await document.save(to: scratch["a"], for: .forCreating)
        try Self.set(0o640, of: scratch["a"])
        try await document.revert(toContentsOf: chain.url)
        #expect(seen.modes.withLock(\.self) == [mode])
        #expect(Self.mode(scratch["a"]) == 0o640 && scratch.names == ["a"])
        try await document.close()
    }

    private final class SeenModes: Sendable {
        let modes = Mutex<[Int?]>([])
    }
}
