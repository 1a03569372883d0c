import Foundation
import HeartwoodTestSupport
import RecordLog
import Synchronization
import Testing

@testable import Heartwood

@Suite struct AutomaticMigrationTests {
    private static let old: Sketch = "A: name:string b>B/as\nB: name:string as>>A/b"
    private static let new: Sketch = "A: title:string~name size:int16!=1 b>B/as\nB: name:string as>>A/b"

    /// A version that no other test uses at the same time: a version that the process has loaded counts as known.
    private func version(_ sketch: Sketch, of test: String) -> NSManagedObjectModel {
        let model = sketch.model
        for entity in model.entities { entity.versionHashModifier = test }
        return model
    }

    private func fill(_ chain: Chain, _ model: NSManagedObjectModel = old.model) throws {
        try chain.with(model) { context in
            let b = context.make("B", ["name": "b"])
            for name in ["x", "y"] { context.make("A", ["name": name, "b": b]) }
        }
    }

    private static let migrated = ["A: b=b size=1 title=x", "A: b=b size=1 title=y", "B: as=[\"A\", \"A\"] name=b"]

    private func failure(_ chain: Chain, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]?, sourceLocation: SourceLocation = #_sourceLocation) throws -> NSError? {
        let before = try Data(contentsOf: chain.url)
        let error = #expect(throws: (any Error).self, sourceLocation: sourceLocation) { try chain.with(model, options: options) { _ in } }
        #expect(try Data(contentsOf: chain.url) == before && chain.scratch.names == ["store"], sourceLocation: sourceLocation)
        return error as NSError?
    }

    @Test
    func `A container migrates unless its description forbids it`() async throws {
        let description = NSPersistentStoreDescription()
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        #expect(description.options[NSMigratePersistentStoresAutomaticallyOption] == NSNumber(value: true))
        let chain = try Chain()
        try fill(chain)
        func container() -> NSPersistentContainer {
            let container = NSPersistentContainer(name: "Test", managedObjectModel: Self.new.model)
            let description = NSPersistentStoreDescription(url: chain.url)
            description.setOption("none" as NSString, forKey: NSRecordLogDurabilityOption)
            container.persistentStoreDescriptions = [description]
            return container
        }
        let careful = container()
        careful.persistentStoreDescriptions[0].shouldMigrateStoreAutomatically = false
        await #expect(performing: { try await careful.loadPersistentStores() }, throws: { code($0) == NSPersistentStoreIncompatibleVersionHashError })
        let explicit = container()
        explicit.persistentStoreDescriptions[0].shouldInferMappingModelAutomatically = false
        await #expect(performing: { try await explicit.loadPersistentStores() }, throws: { code($0) == NSMigrationMissingMappingModelError })
        let plain = container()
        try await plain.loadPersistentStores()
        #expect(try await plain.performBackgroundTask { context in try context.lines() } == Self.migrated)
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A migration happens only if the options ask for it`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try fill(chain)
        let model = Self.new.model
        let plain = try failure(chain, model, [NSRecordLogDurabilityOption: "none"])
        #expect(code(plain) == NSPersistentStoreIncompatibleVersionHashError)
        #expect(plain?.localizedDescription.contains(NSMigratePersistentStoresAutomaticallyOption) == true)
        #expect(code(try failure(chain, model, [NSInferMappingModelAutomaticallyOption: true, NSRecordLogDurabilityOption: "none"])) == NSPersistentStoreIncompatibleVersionHashError)
        let unmapped = try failure(chain, model, [NSMigratePersistentStoresAutomaticallyOption: true, NSRecordLogDurabilityOption: "none"])
        #expect(code(unmapped) == NSMigrationMissingMappingModelError && unmapped?.userInfo["reason"] as? String == "Can't find mapping model for migration")
        var reading: [AnyHashable: Any] = Chain.automatic
        reading[NSReadOnlyPersistentStoreOption] = true
        let readOnly = try failure(chain, model, reading)
        #expect(code(readOnly) == NSMigrationError && readOnly?.localizedDescription.contains("read-only") == true)
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Identity, metadata and further stores stay`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try fill(chain)
        try chain.with(Self.old) { context in
            let coordinator = try #require(context.persistentStoreCoordinator)
            coordinator.setMetadata(["note": "mine"], for: coordinator.persistentStores[0])
        }
        let before = try chain.metadata()
        try FileManager.default.createSymbolicLink(at: chain.scratch["link"], withDestinationURL: chain.url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.new.model)
        let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: chain.scratch["link"], options: Chain.automatic)
        #expect(store.identifier == before[NSStoreUUIDKey] as? String && store.metadata["note"] as? String == "mine")
        #expect(coordinator.persistentStores == [store])
        try coordinator.remove(store)
        let after = try chain.metadata()
        #expect(after[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String && after["note"] as? String == "mine")
        #expect(after[NSStoreModelVersionHashesKey] as? [String: Data] == Self.new.model.entityVersionHashesByName)
        #expect(chain.scratch.names == ["link", "store"])
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: chain.scratch["link"].path)) != nil)
    }

    /// Two versions of a program beside each other, or the older one reinstalled.
    @Test(arguments: [StoreKind.recordLog, .binary])
    func `An older program does not take a newer one's store back`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        func old() -> NSManagedObjectModel { version(Self.old, of: "older \(kind)") }
        func new() -> NSManagedObjectModel { version(Self.new, of: "older \(kind)") }
        try fill(chain, old())
        #expect(try chain.lines(new()) == Self.migrated)
        let error = try failure(chain, old(), Chain.automatic)
        #expect(code(error) == NSMigrationMissingSourceModelError && error?.localizedDescription.contains("newer") == true)
        func newest() -> NSManagedObjectModel {
            version("A: title:string size:int16!=1 more:string b>B/as\nB: name:string as>>A/b", of: "older \(kind)")
        }
        try chain.with(newest()) { _ in }
        for version in [old, new] { #expect(code(try failure(chain, version(), Chain.automatic)) == NSMigrationMissingSourceModelError) }
        // Clients' metadata do not remove that knowledge.
        try chain.with(newest()) { context in
            let coordinator = try #require(context.persistentStoreCoordinator)
            coordinator.setMetadata([:], for: coordinator.persistentStores[0])
        }
        #expect(code(try failure(chain, old(), Chain.automatic)) == NSMigrationMissingSourceModelError)
        // An explicit request migrates it back; then the way forward is the same as before.
        try StoreMigrator(MigrationEnd(url: chain.url, type: kind.type, options: Chain.automatic, configuration: nil))
            .migrate(to: old(), isAutomatic: false, infers: true)
        #expect(FormerVersions.list(try chain.metadata()).isEmpty)
        #expect(try chain.lines(old()).count == 3)
        #expect(try chain.lines(new()).count == 3)
        #expect(FormerVersions.list(try chain.metadata()) == [old().versionChecksum])
    }

    /// A program that has both versions migrates to either.
    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A program with the store's version goes back to a former one`(kind: StoreKind) throws {
        let chain = try Chain(kind), old = version(Self.old, of: "both \(kind)"), new = version(Self.new, of: "both \(kind)")
        try fill(chain, old)
        #expect(try chain.lines(new) == Self.migrated)
        #expect(try chain.lines(old).count == 3)
        try chain.with(new) { _ in }
        withExtendedLifetime((old, new)) {}
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A configuration is migrated on its own`(kind: StoreKind) throws {
        func model(_ sketch: Sketch) -> NSManagedObjectModel {
            let model = sketch.model
            model.setEntities([model.entitiesByName["A"]!], forConfigurationName: "Part")
            return model
        }
        let scratch = try ScratchDirectory()
        func open(_ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: "Part", at: scratch["store"], options: Chain.automatic)
            let context = coordinator.newContext()
            try body(context)
            if context.hasChanges { try context.save() }
            try coordinator.remove(store)
        }
        try open(model("A: name:string\nB: name:string")) { $0.make("A", ["name": "x"]) }
        try open(model("A: title:string~name\nB: size:int32")) { context in
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A"))
            #expect(found.map { $0.value(forKey: "title") as? String } == ["x"])
        }
    }

    /// A crash leaves an empty folder, one with a marker, which may not have reached the disk, or one with files too.
    @Test(arguments: ["empty", "marker", "lost marker", "files"])
    func `A migration removes the folder that a crash has left beside the store`(state: String) throws {
        let chain = try Chain(.binary)
        try fill(chain)
        let folder = chain.scratch["store.migrating"], marker = folder.appendingPathComponent(".heartwood-migration")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        if state != "empty" { try Data(state == "lost marker" ? [] : Array("heartwood migration\n".utf8)).write(to: marker) }
        if state == "files" {
            try FileManager.default.copyItem(at: chain.url, to: folder.appendingPathComponent("store"))
            // The target of a link does not belong to the migration.
            try Data("a letter".utf8).write(to: chain.scratch["letter"])
            try FileManager.default.createSymbolicLink(at: folder.appendingPathComponent("link"), withDestinationURL: chain.scratch["letter"])
        }
        #expect(try chain.lines(Self.new) == Self.migrated)
        #expect(chain.scratch.names == (state == "files" ? ["letter", "store"] : ["store"]))
    }

    @Test(arguments: ["letter", "store", "link to a store", "link to nothing", "folder", "link to a folder"])
    func `A migration refuses a file at its folder's path, and does not change it`(kind: String) throws {
        let chain = try Chain(.binary), other = try Chain(.binary)
        try fill(chain)
        try fill(other)
        let file = chain.scratch["store.migrating"], files = FileManager.default
        let folder = other.scratch["folder"]
        try files.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("a letter".utf8).write(to: folder.appendingPathComponent("letter"))
        switch kind {
        case "letter": try Data("a letter".utf8).write(to: file)
        case "store": try files.copyItem(at: chain.url, to: file)
        case "link to a store": try files.createSymbolicLink(at: file, withDestinationURL: other.url)
        case "link to nothing": try files.createSymbolicLink(at: file, withDestinationURL: other.scratch["nothing"])
        case "folder": try files.copyItem(at: folder, to: file)
        default: try files.createSymbolicLink(at: file, withDestinationURL: folder)
        }
        func state() throws -> [String] {
            let kind = try files.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
            return [kind?.rawValue ?? "", String(describing: try? Data(contentsOf: file)), "\(chain.scratch.names)", "\(other.scratch.names)",
                "\(try Data(contentsOf: chain.url))", "\(try Data(contentsOf: other.url))"]
        }
        let before = try state()
        let error = #expect(throws: (any Error).self) { try chain.with(Self.new) { _ in } }
        #expect((error as NSError?)?.localizedDescription.contains(file.path) == true)
        #expect(try state() == before)
        #expect(try chain.lines(Self.old).count == 3 && other.lines(Self.old).count == 3)
    }

    @Test
    func `A migration waits for one that is under way, and says so where that takes too long`() throws {
        let chain = try Chain(.binary)
        try fill(chain)
        let folder = try MigrationFolder.claim(besides: chain.url)
        var options = Chain.automatic
        options[NSPersistentStoreTimeoutOption] = 0.05
        let error = #expect(throws: (any Error).self) { try chain.with(Self.new.model, options: options) { _ in } }
        #expect(code(error) == NSPersistentStoreTimeoutError)
        #expect(chain.scratch.names == ["store", "store.migrating"])
        folder.abandon()
        #expect(chain.scratch.names == ["store"])
        #expect(try chain.lines(Self.new) == Self.migrated)
    }

    /// A mapping model of the program's own goes before an inferred one.
    @Test
    func `A migration manager needs the store to itself`() throws {
        let chain = try Chain()
        try fill(chain)
        let migrator = try StoreMigrator(MigrationEnd(url: chain.url, type: NSRecordLogStoreType, options: [NSRecordLogDurabilityOption: "none", NSPersistentStoreTimeoutOption: 0.05]))
        let mapping = NSMappingModel(inferredFrom: try ModelComparison(from: Self.old.model, to: Self.new.model))
        mapping.entityMappings[0].attributeMappings?[0].valueExpression = NSExpression(format: "FUNCTION($source.name, 'uppercaseString')")
        #expect(!mapping.isInferred)
        do {
            let held = NSPersistentStoreCoordinator(managedObjectModel: Self.old.model)
            let store = try held.addPersistentStore(type: .recordLog, at: chain.url)
            let error = #expect(throws: (any Error).self) {
                try migrator.migrate(to: Self.new.model, by: mapping, isAutomatic: false, infers: false)
            }
            #expect(code(error) == NSPersistentStoreTimeoutError && (error as NSError?)?.localizedDescription.contains("open for writing") == true)
            #expect(chain.scratch.names == ["store"])
            try held.remove(store)
        }
        // A read-only store keeps its content.
        let reader = NSPersistentStoreCoordinator(managedObjectModel: Self.old.model)
        try reader.addPersistentStore(type: .recordLog, at: chain.url, options: [NSReadOnlyPersistentStoreOption: true])
        try migrator.migrate(to: Self.new.model, by: mapping, isAutomatic: false, infers: false)
        #expect(try reader.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "A")) == 2)
        #expect(try chain.lines(Self.new, options: nil) == Self.migrated.map { $0.replacingOccurrences(of: "title=x", with: "title=X").replacingOccurrences(of: "title=y", with: "title=Y") })
        #expect(try StoreVerification.verify(path: chain.url.path).isSound)
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Of several programs that migrate at once, one does it`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try fill(chain)
        let models = (0..<6).map { _ in Self.new.model }, results = Mutex<[String]>([]), url = chain.url
        DispatchQueue.concurrentPerform(iterations: models.count) { number in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: models[number])
            var text = ""
            do {
                let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: Chain.automatic)
                text = "\(try coordinator.newContext().lines())"
                try coordinator.remove(store)
            } catch {
                text = "\(error)"
            }
            results.withLock { $0.append(text) }
        }
        #expect(results.withLock { $0 } == Array(repeating: "\(Self.migrated)", count: models.count))
        #expect(try chain.lines(Self.new, options: nil) == Self.migrated && chain.scratch.names == ["store"])
    }

    @Test
    func `A program with the old version open does not write it over the new one`() throws {
        let chain = try Chain()
        try fill(chain)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.old.model)
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: chain.url, options: Chain.automatic)
        #expect(try chain.lines(Self.new) == Self.migrated)
        coordinator.setMetadata(["note": "mine"], for: store)
        let context = coordinator.newContext()
        context.make("A")
        #expect(performing: { try context.save() }, throws: { code($0) == NSPersistentStoreIncompatibleVersionHashError })
        try coordinator.remove(store)
        #expect(try chain.metadata()[NSStoreModelVersionHashesKey] as? [String: Data] == Self.new.model.entityVersionHashesByName)
        #expect(try chain.lines("A: title:string\nB: name:string").count == 3, "it goes on from the version that it has")
    }

    @Test
    func `A store without a stored model needs its model in the bundles`() throws {
        let chain = try Chain(.atomic)
        try fill(chain)
        let error = try failure(chain, Self.new.model, Chain.automatic)
        #expect(code(error) == NSMigrationMissingSourceModelError && error?.userInfo["metadata"] != nil)
    }

    @Test
    func `The version can be ignored if nothing is missing`() throws {
        for kind in [StoreKind.recordLog, .binary] {
            let chain = try Chain(kind)
            try chain.with(Sketch("A: name:string size:int32")) { $0.make("A", ["name": "x", "size": 1]) }
            let ignoring: [AnyHashable: Any] = [NSIgnorePersistentStoreVersioningOption: true]
            #expect(try chain.lines(Sketch("A: name:string! size:int32"), options: ignoring) == ["A: name=x size=1"])
            if kind == .recordLog {
                let error = #expect(throws: (any Error).self) { try chain.with(Sketch("A: name:string more:int32"), options: ignoring) { _ in } }
                #expect(code(error) == NSPersistentStoreIncompatibleVersionHashError && (error as NSError?)?.localizedDescription.contains("A.more") == true)
            }
            #expect(try chain.lines(Sketch("A: name:string size:int32"), options: nil) == ["A: name=x size=1"], "its version stays")
        }
    }

    @Test
    func `A document migrates its file`() async throws {
        let scratch = try ScratchDirectory()
        let old = ManagedDocument(fileURL: scratch["a"], managedObjectModel: Self.old.model, concurrencyType: .privateQueueConcurrencyType)
        try await old.save(to: scratch["a"], for: .forCreating)
        let writing = old.managedObjectContext
        await writing.perform { _ = writing.make("A", ["name": "x"]) }
        try await old.close()
        let new = ManagedDocument(fileURL: scratch["a"], managedObjectModel: Self.new.model, concurrencyType: .privateQueueConcurrencyType)
        new.persistentStoreOptions = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        try await new.open()
        let context = new.managedObjectContext
        #expect(try await context.perform { try context.lines() } == ["A: b=- size=1 title=x"])
        // A restored backup of the old version is migrated as at an opening.
        let chain = try Chain()
        try fill(chain)
        try await new.revert(toContentsOf: chain.url)
        #expect(try await context.perform { try context.lines() } == Self.migrated)
        #expect(try chain.lines(Self.old, options: nil).count == 3 && scratch.names == ["a"])
        try await new.close()
    }

    /// Random changes, one version after another, beside a plain list of the expected content.
    @Test(arguments: [StoreKind.recordLog, .binary], [1, 2, 3])
    func `Random chains of versions keep the right values`(kind: StoreKind, seed: UInt64) throws {
        struct Column {
            var name: String
            var type: String
            var identifier: String? = nil
        }
        var random = SeededGenerator(seed: seed &* 977 &+ (kind == .binary ? 1 : 0))
        let chain = try Chain(kind)
        var columns = [Column(name: "name", type: "string")]
        // The values of each column by name.
        var rows: [[String: String]] = []
        var counter = 0, entity = "E", formerEntity: String?
        func sketch() -> Sketch {
            let properties = columns.map { "\($0.name):\($0.type)\($0.identifier.map { "~\($0)" } ?? "")" }.joined(separator: " ")
            return Sketch("\(entity)\(formerEntity.map { "~\($0)" } ?? ""): \(properties)")
        }
        func value(_ type: String) -> (Any, String) {
            let kind: ValueDomain.Kind = type == "string" ? .text : .integer(bits: type == "int16" ? 16 : 32)
            switch ValueDomain.short.something(kind, &random) {
            case .text(let text): return (text, text)
            case .integer(let number): return (Int(number), "\(number)")
            default: return (0, "0")
            }
        }
        for round in 0..<8 {
            try chain.with(sketch()) { (context: NSManagedObjectContext) throws -> Void in
                #expect(
                    try context.lines() == rows.map { row in
                        "\(entity): " + columns.map(\.name).sorted().map { "\($0)=\(row[$0] ?? "nil")" }.joined(separator: " ")
                    }.sorted(), "seed \(seed), round \(round)")
                for _ in 0..<6 {
                    let object = context.make(entity)
                    var row: [String: String] = [:]
                    for column in columns where Bool.random(using: &random) {
                        let (value, text) = value(column.type)
                        object.setValue(value, forKey: column.name)
                        row[column.name] = text
                    }
                    rows.append(row)
                }
            }
            formerEntity = nil
            for scratch in columns.indices { columns[scratch].identifier = nil }
            for _ in 0..<2 {
                counter += 1
                switch Int.random(in: 0..<5, using: &random) {
                case 0: columns.append(Column(name: "c\(counter)", type: ["string", "int16", "int32"].randomElement(using: &random)!))
                case 1 where columns.count > 1:
                    let gone = columns.remove(at: Int.random(in: columns.indices, using: &random))
                    for scratch in rows.indices { rows[scratch][gone.name] = nil }
                case 2:
                    let scratch = columns.indices.randomElement(using: &random)!, old = columns[scratch].name
                    guard columns[scratch].identifier == nil, !old.hasPrefix("c\(counter - 1)") else { continue }
                    columns[scratch].identifier = old
                    columns[scratch].name = "c\(counter)"
                    for row in rows.indices { rows[row]["c\(counter)"] = rows[row].removeValue(forKey: old) }
                case 3:
                    for scratch in columns.indices where columns[scratch].type == "int16" { columns[scratch].type = "int64" }
                default:
                    guard formerEntity == nil else { continue }
                    formerEntity = entity
                    entity = "E\(counter)"
                }
            }
        }
        #expect(chain.scratch.names == ["store"])
    }
}
