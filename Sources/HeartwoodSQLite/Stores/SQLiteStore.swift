import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog
import Synchronization

/// A store of Core Data's or SwiftData's own, in SQLite, which is read in place. Nothing is created or written, neither in the file nor beside it.
///
/// Objects have the URIs that Core Data gives them. The owner may write meanwhile: each read sees the newest commit.
package final class SQLiteStore: NSPersistentStore, GraphStore, FileStore, @unchecked Sendable {
    // Unchecked: `source` and `schema` are set while the store is loaded.

    private var source: SQLiteSource?
    private(set) var schema: RecordLogSchema?
    private let isOpen = Atomic<Bool>(false)

    override package var type: String { NSSQLiteStoreType }
    package var batchStore: (any BatchStore)? { self }
    package var historyStore: (any HistoryStore)? { self }
    package var transferStore: (any TransferStore)? { self }
    package var slotCount: Int { schema?.tables.count ?? 0 }

    // MARK: Loading

    package func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        let path = try filePath(), entities = model.entities(forConfigurationName: configuration) ?? model.entities
        slotBase = UInt64(firstSlot) << 48
        isReadOnly = true
        let (file, contents) = try Self.open(path)
        try checkVersion(model, entities, contents, path)
        keepMetadata { contents.shownMetadata(path: path) }
        identifier = contents.identifier
        let schema = try RecordLogSchema.drafted(entities, for: self, firstSlot: firstSlot, path: path)
        do {
            let reader = try file.read {
                let layout = try CoreDataLayout(entities, contents.numbers, contents.schema, path: path)
                return try CoreDataReader(file, contents, layout, schema)
            }
            source = SQLiteSource(reader, entities, schema, missingFiles: options?[MissingValueFiles.option] as? MissingValueFiles)
        } catch {
            throw CoreDataFileError.wrapIfOfFile(error, opening: true)
        }
        self.schema = schema
        isOpen.store(true, ordering: .releasing)
        watchIfNeeded(path)
        return schema.tables.compactMap { $0?.runtime }
    }

    private static func open(_ path: String) throws -> (SQLiteFile, CoreDataContents) {
        do {
            return try CoreDataContents.open(path)
        } catch {
            throw CoreDataFileError.wrapIfOfFile(error, opening: true)
        }
    }

    /// The store's cache has its model, and Heartwood's hashes of that tell whether it is the given one. A compiled model knows Core Data's hashes.
    /// For a model of neither kind the layout decides.
    private func checkVersion(
        _ model: NSManagedObjectModel, _ entities: [NSEntityDescription], _ contents: CoreDataContents, _ path: String
    ) throws {
        guard !ignoresVersion else { return }
        // Without a cache, and without Core Data's hashes of the model, nothing is to compare.
        guard contents.cache != nil || !model.coreDataHashes.isEmpty || contents.hasModel else { return }
        let stored = Self.storedHashes(model, entities, contents, path)
        guard entities.contains(where: { stored[$0.name ?? ""] != $0.versionHash }) else { return }
        var metadata = contents.metadata
        metadata[NSStoreModelVersionHashesKey] = stored
        throw RecordLogMetadata.mismatch(
            path: path, model: model, configuration: configuration, metadata: metadata,
            remedy: "Open it with that model. To migrate it, convert it first. \(CoreDataFileError.conversion)")
    }

    /// Heartwood's hashes of the entities that the store was made with. If neither its cache nor its hashes tell them, they count as the model's.
    static func storedHashes(
        _ model: NSManagedObjectModel, _ entities: [NSEntityDescription], _ contents: CoreDataContents, _ path: String
    ) -> [String: Data] {
        var stored: [String: Data] = [:]
        let cached = contents.ownModel(path: path)
        for entity in entities {
            let name = entity.name ?? ""
            if let cached {
                stored[name] = cached.entitiesByName[name]?.versionHash
            } else if let known = model.coreDataHashes[entity], let theirs = contents.hashes[name] {
                stored[name] = known.contains(theirs) ? entity.versionHash : theirs
            } else {
                stored[name] = entity.versionHash
            }
        }
        return stored
    }

    package func unload() throws {
        isOpen.store(false, ordering: .releasing)
        source?.close()
    }

    // MARK: Reading

    var isUsable: Bool { isOpen.load(ordering: .acquiring) }

    package func newestView() throws -> any StoreView {
        guard isUsable, let source, let schema else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The store was removed from its coordinator.")
        }
        return SQLiteView(self, source, schema)
    }

    package func key(named name: String, of runtime: EntityRuntime) -> ObjectKey? {
        guard let key = ObjectKey(numbered: name, of: runtime), key.row <= UInt64(CoreDataRows.keyMax) else { return nil }
        return key
    }

    // MARK: Writing

    /// - Throws: 513 always.
    package func checkWritable() throws { throw readOnly() }

    private func readOnly() -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileWriteNoPermission.rawValue,
            "The store at \(url?.path ?? "?") is an SQLite store, which is only read; nothing was saved. \(CoreDataFileError.conversion)",
            [NSAffectedStoresErrorKey: [self], NSFilePathErrorKey: url?.path ?? ""])
    }

    package func save(_ batch: SaveBatch) throws { throw readOnly() }

    package func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] { throw readOnly() }

    package func writeMetadata() throws { throw readOnly() }

    // MARK: Files

    package class var isMigratedWhenAdded: Bool { false }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let path = try path(of: url)
        return try open(path).1.shownMetadata(path: path)
    }

    package class func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        let path = try path(of: url), contents = try open(path).1
        return try contents.cache.map { try ModelCache.model(from: $0, path: path, hashes: contents.hashes) } ?? contents.writtenModel(path: path)
    }

    private class func path(of url: URL) throws -> String {
        try SQLiteStore(persistentStoreCoordinator: nil, configurationName: nil, at: url).filePath()
    }

    private class func untouched(_ url: URL) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileWriteNoPermission.rawValue,
            "The SQLite store at \(url.path) is only read; it was left as it is. \(CoreDataFileError.conversion)", [NSFilePathErrorKey: url.path])
    }

    package class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws { throw untouched(url) }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws { throw untouched(url) }

    package class func destroy(at url: URL, options: [AnyHashable: Any]?) throws { throw untouched(url) }

    /// The file is new, so it is none of Core Data's.
    package class func discard(at url: URL, options: [AnyHashable: Any]?) throws { try FileManager.default.removeItem(at: url) }

    /// - Throws: 513, before the store leaves its coordinator.
    package func checkDestruction(at url: URL, options: [AnyHashable: Any]?) throws { throw Self.untouched(url) }

    package class func replace(
        at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws { throw untouched(url) }

    package class func exchange(at url: URL, options: [AnyHashable: Any]?, _ body: () throws -> URL?) throws { throw untouched(url) }
}

/// Conversion where a record log is asked for.
extension SQLiteStore {
    package class func makeRecordLog(of source: MigrationEnd, at url: URL?, for model: NSManagedObjectModel) throws -> Bool {
        guard CoreDataFile.isClearDatabase(source.url) else { return false }
        let options = MigrationOptions(source.options)
        let conversion = SQLiteConversion(
            source.url, for: model, configuration: source.configuration, keepsHistory: tracksHistory(source.options),
            dropping: options.acceptsUnrelated || options.staged != nil ? .isTold : .refusesUnrelated)
        if let url { try conversion.run(to: url) } else { try SQLiteExchange(conversion: conversion).run() }
        return true
    }

    /// A store that is to track its history keeps that of the old one.
    private class func tracksHistory(_ options: [AnyHashable: Any]?) -> Bool {
        options?[NSPersistentHistoryTrackingKey] is NSDictionary || flag(NSPersistentHistoryTrackingKey, in: options) ?? false
    }
}

extension SQLiteStore: BatchStore {
    /// - Throws: 513 always.
    package func execute(_ batch: StoreBatch, origin: TransactionOrigin, outcome: BatchOutcome) throws -> BatchOutcome { throw readOnly() }
}

extension SQLiteStore: HistoryStore {
    package func newestHistory() throws -> (any StoreHistory)? {
        guard isUsable, let source, let schema else { return nil }
        return try SQLiteHistory(self, source, schema)
    }
}

extension SQLiteStore: TransferStore {
    /// Writes the file at the URL of this store, which is not loaded.
    package func takeContents(of old: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator) throws -> MovedObjects? {
        try url.map { try SQLiteStoreMigration(coordinator: coordinator, store: old, url: $0).write(for: self) }
    }

    /// Writes the objects to a new record log in a file, which has the same identifier.
    package func giveContents(
        to target: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator
    ) throws -> MovedObjects? {
        guard url.isFileURL, let log = target.ownLog, !log.isInMemory else { return nil }
        // The store is open with the model, so it is of its version.
        try SQLiteConversion(
            URL(fileURLWithPath: try filePath()), for: coordinator.managedObjectModel, configuration: configuration,
            keepsHistory: Self.tracksHistory(target.options), dropping: .isTold
        ).run(to: url)
        return .sameRows
    }
}
