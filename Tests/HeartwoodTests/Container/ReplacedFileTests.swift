import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// A file that replaces another is readable only by the other's readers, and replaces only files.
@Suite struct ReplacedFileTests {
    private static let old: Sketch = "A: name:string"
    private static let new: Sketch = "A: title:string~name size:int16!=1"

    private func attributes(_ url: URL) throws -> [FileAttributeKey: Int] {
        let found = try FileManager.default.attributesOfItem(atPath: url.path)
        func number(_ key: FileAttributeKey) -> Int { (found[key] as? NSNumber)?.intValue ?? -1 }
        return [
            .posixPermissions: number(.posixPermissions), .ownerAccountID: number(.ownerAccountID),
            .groupOwnerAccountID: number(.groupOwnerAccountID)]
    }

    /// Gives a file to another owner, or, if the process may not do so, removes everyone else's permissions.
    private func restrict(_ url: URL) throws -> [FileAttributeKey: Int] {
        if geteuid() == 0 {
            try #require(chown(url.path, 4711, 4712) == 0)
        } else {
            print("Not root: owners are not tested, only permissions.")
        }
        try #require(chmod(url.path, 0o600) == 0)
        return try attributes(url)
    }

    private func fill(_ chain: Chain) throws { try chain.with(Self.old) { $0.make("A", ["name": "x"]) } }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A migration that is not in place keeps the store's permissions, owner and group`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try fill(chain)
        let before = try restrict(chain.url)
        let migrator = try StoreMigrator(MigrationEnd(url: chain.url, type: kind.type, options: [NSRecordLogDurabilityOption: "none"]))
        let mapping = NSMappingModel(inferredFrom: try ModelComparison(from: Self.old.model, to: Self.new.model))
        mapping.entityMappings[0].attributeMappings?[0].valueExpression = NSExpression(format: "FUNCTION($source.name, 'uppercaseString')")
        try migrator.migrate(to: Self.new.model, by: mapping, isAutomatic: false, infers: false)
        #expect(try chain.lines(Self.new, options: nil) == ["A: size=1 title=X"])
        #expect(try attributes(chain.url) == before)
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A replaced store keeps its permissions, owner and group; a new one gets those of the source`(kind: StoreKind) throws {
        let chain = try Chain(kind), other = try Chain(kind)
        try fill(chain)
        try fill(other)
        let before = try restrict(chain.url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.old.model)
        try coordinator.replacePersistentStore(at: chain.url, withPersistentStoreFrom: other.url, ofType: kind.type)
        #expect(try attributes(chain.url) == before)
        #expect(try Data(contentsOf: chain.url) == Data(contentsOf: other.url) || kind == .recordLog)
        try coordinator.replacePersistentStore(at: other.scratch["new"], withPersistentStoreFrom: chain.url, ofType: kind.type)
        #expect(try attributes(other.scratch["new"]) == before)
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A store that moves to another type or URL keeps its permissions, owner and group`(kind: StoreKind) throws {
        let chain = try Chain()
        try fill(chain)
        let before = try restrict(chain.url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.old.model)
        let store = try coordinator.addPersistentStore(ofType: chain.kind.type, configurationName: nil, at: chain.url)
        try coordinator.remove(try coordinator.migratePersistentStore(store, to: chain.scratch["new"], withType: kind.type))
        #expect(try attributes(chain.scratch["new"]) == before)
        #expect(chain.scratch.names == ["new", "store"])
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A manager's migration to a new URL gives the new store the permissions of the old one`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try fill(chain)
        let before = try restrict(chain.url)
        let mapping = NSMappingModel(inferredFrom: try ModelComparison(from: Self.old.model, to: Self.new.model))
        for _ in 0..<2 {
            try NSMigrationManager(sourceModel: Self.old.model, destinationModel: Self.new.model).migrateStore(
                from: chain.url, sourceType: kind.type, options: nil, with: mapping, toDestinationURL: chain.scratch["new"],
                destinationType: kind.type, destinationOptions: nil)
            // At the second save the file exists.
            #expect(try attributes(chain.scratch["new"]) == before)
            #expect(chain.scratch.names == ["new", "store"])
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A pipe, a device and a directory stay what they are where a store is to go`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try fill(chain)
        let pipe = chain.scratch["pipe"], device = chain.scratch["device"], directory = chain.scratch["directory"]
        try #require(mkfifo(pipe.path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: device.path, withDestinationPath: "/dev/zero")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.old.model)
        let mapping = NSMappingModel(inferredFrom: try ModelComparison(from: Self.old.model, to: Self.new.model))
        let names = chain.scratch.names
        for url in [pipe, device, directory] {
            let kindBefore = try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
            let attempts: [(String, () throws -> Void)] = [
                ("replace", { try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: chain.url, ofType: kind.type) }),
                ("destroy", { try coordinator.destroyPersistentStore(at: url, ofType: kind.type, options: nil) }),
                ("migrate", {
                    try NSMigrationManager(sourceModel: Self.old.model, destinationModel: Self.new.model).migrateStore(
                        from: chain.url, sourceType: kind.type, options: nil, with: mapping, toDestinationURL: url, destinationType: kind.type,
                        destinationOptions: nil)
                }),
                ("migrate store", {
                    let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: chain.url)
                    defer { try? coordinator.remove(store) }
                    try coordinator.migratePersistentStore(store, to: url, withType: kind.type)
                }),
            ]
            for (name, attempt) in attempts {
                let error = #expect(throws: (any Error).self, "\(name) \(url.lastPathComponent)") { try attempt() }
                #expect(
                    (error as NSError?)?.localizedDescription.contains(url.lastPathComponent) == true || name == "destroy",
                    "\(name): \(String(describing: error))")
                #expect(chain.scratch.names == names, "\(name)")
                #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType == kindBefore)
            }
        }
    }
}
