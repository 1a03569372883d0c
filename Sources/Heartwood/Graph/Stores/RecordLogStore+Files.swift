import Foundation
import RecordLog

/// Operations on record logs as files, most of them not loaded.
enum RecordLogFiles {
    /// The path and options that open a log at `url`.
    static func location(_ url: URL, _ options: [AnyHashable: Any]?) throws -> (path: String, options: StoreOptions) {
        try RecordLogStore(persistentStoreCoordinator: nil, configurationName: nil, at: url, options: options).location()
    }

    /// - Throws: 134080 for options that name a past commit: files are changed as they are now.
    static func locationToChange(_ url: URL, _ options: [AnyHashable: Any]?) throws -> (path: String, options: StoreOptions) {
        let found = try location(url, options)
        guard found.options.asOf != nil else { return found }
        throw CoreDataError.make(
            NSPersistentStoreOpenError, "\(found.path): nothing was changed, since NSRecordLogAsOfOption names the past. Leave the option out.",
            [NSFilePathErrorKey: found.path])
    }

    /// Runs `body` with an existing log, open for reading only or for writing too.
    static func with<Result>(
        _ url: URL, _ options: [AnyHashable: Any]?, isReadOnly: Bool, _ body: (LogStore) throws -> Result
    ) throws -> Result {
        var (path, options) = try isReadOnly ? location(url, options) : locationToChange(url, options)
        options.isReadOnly = isReadOnly
        options.createIfMissing = false
        options.compaction = nil
        let log: LogStore
        do {
            log = try LogStore.open(path: path, options: options)
        } catch {
            throw RecordLogErrors.wrap(error, opening: true)
        }
        do {
            let result = try body(log)
            try log.close()
            return result
        } catch {
            try? log.close()
            throw RecordLogErrors.wrapIfOfEngine(error)
        }
    }

    static func metadata(at url: URL, _ options: [AnyHashable: Any]?) throws -> [String: Any] {
        try with(url, options, isReadOnly: true) { try metadata(in: $0) }
    }

    static func metadata(in log: LogStore) throws -> [String: Any] { try metadata(in: log.snapshot(), log.path) }

    private static func metadata(in snapshot: Snapshot, _ path: String) throws -> [String: Any] {
        let metadata = try RecordLogMetadata.read(snapshot)
        guard !metadata.isEmpty else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "\(path): the store has no metadata; it was made, and never loaded with a model.",
                [NSFilePathErrorKey: path])
        }
        return metadata
    }

    static func setMetadata(_ metadata: [String: Any]?, at url: URL, _ options: [AnyHashable: Any]?) throws {
        try with(url, options, isReadOnly: false) { log in
            try log.write { transaction in
                let known = try self.metadata(in: transaction.base, log.path)
                let bytes = try RecordLogMetadata.encode(RecordLogMetadata.keepingOwn(known, in: metadata ?? [:]))
                try transaction.setSystemValue(RecordLogSystemRow.metadata, bytes)
            }
        }
    }

    static func model(at url: URL, _ options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        try with(url, options, isReadOnly: true) { try StoredModel.model(in: $0.snapshot()) }
    }

    static func exchange(at url: URL, _ options: [AnyHashable: Any]?, _ body: () throws -> URL?) throws {
        let (path, options) = try locationToChange(url, options)
        do {
            try LogStore.exchange(path: path, options: options) { try body()?.path }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    static func destroy(at url: URL, _ options: [AnyHashable: Any]?, leavesEmptyFile: Bool) throws {
        let isForced = isForced(options), (path, options) = try locationToChange(url, options)
        do {
            try LogStore.remove(path: path, options: options, isForced: isForced, leavesEmptyFile: leavesEmptyFile)
        } catch {
            throw RecordLogErrors.wrapRemoval(error)
        }
    }

    static func checkDestruction(at url: URL, _ options: [AnyHashable: Any]?, by log: LogStore) throws {
        let (path, storeOptions) = try location(url, options)
        guard !isForced(options) else { return }
        do {
            try LogStore.checkRemoval(path: path, options: storeOptions, by: log)
        } catch {
            throw RecordLogErrors.wrapRemoval(error)
        }
    }

    private static func isForced(_ options: [AnyHashable: Any]?) -> Bool {
        NSPersistentStore.flag(NSPersistentStoreForceDestroyOption, in: options) ?? false
    }

    static func replace(at url: URL, _ options: [AnyHashable: Any]?, with source: URL, _ sourceOptions: [AnyHashable: Any]?) throws {
        let (path, options) = try locationToChange(url, options)
        try with(source, sourceOptions, isReadOnly: true) { log in
            _ = try metadata(in: log)
            try log.copy(to: path, options: options, replacing: true)
        }
    }
}

extension RecordLogStore {
    /// Writes the newest commit to the location of `new`, which is not loaded. The copy gets a new identifier.
    final func copy(to new: RecordLogStore) throws {
        let log = try loaded().log
        do {
            let (path, options) = try new.location()
            let identifier = StoredUUID(words: (.random(in: 1...UInt64.max), .random(in: 1...UInt64.max)))
            var metadata = try pendingMetadata ?? RecordLogMetadata.read(log.snapshot())
            metadata[NSStoreUUIDKey] = identifier.uuidString
            metadata[NSStoreTypeKey] = new.type
            try log.copy(
                to: path, as: identifier, options: options,
                systemValues: [RecordLogSystemRow.metadata: try RecordLogMetadata.encode(metadata)])
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    /// Writes the newest commit to a new file. It is the same store, as a copied file is.
    final func copyLog(to url: URL) throws {
        let log = try loaded().log
        do {
            try log.copy(to: url.path, options: try location().options)
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    /// Switches to the log's file at another location, or to a copy of it.
    final func relocateLog(to url: URL) throws {
        let known = try loaded()
        let options = try location().options
        let log: LogStore
        do {
            log = try LogStore.open(path: url.path, options: options.withoutCreating)
        } catch {
            throw RecordLogErrors.wrap(error, opening: true)
        }
        let snapshot = log.snapshot()
        guard log.storeID == known.log.storeID, known.log.snapshot().catalog.hasSameLayouts(as: snapshot.catalog),
            let metadata = try? StoredMetadata(snapshot)
        else {
            try? log.close()
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "The store at \(url.path) is not the one that was loaded from \(known.log.path); remove that one and add this.",
                [NSAffectedStoresErrorKey: [self], NSFilePathErrorKey: url.path])
        }
        exchangeLog(for: log, metadata: metadata)
        setURL(url)
        commits.begin(at: snapshot.sequence)
        adoptIndexes(snapshot.catalog)
        // The old path may have no file any more; everything saved is in the log.
        try? known.log.close()
    }
}

extension StoreOptions {
    fileprivate var withoutCreating: StoreOptions {
        var options = self
        options.createIfMissing = false
        return options
    }
}

extension Catalog {
    /// Whether rows of one catalog can be read with the other.
    fileprivate func hasSameLayouts(as other: Catalog) -> Bool {
        tables.count == other.tables.count && zip(tables, other.tables).allSatisfy { mine, theirs in
            mine.id == theirs.id && mine.name == theirs.name && mine.layouts.map(\.id) == theirs.layouts.map(\.id)
                && mine.layouts.map { $0.columns.map(\.id) } == theirs.layouts.map { $0.columns.map(\.id) }
                && zip(mine.layouts, theirs.layouts).allSatisfy { $0.hasSameDefaults(as: $1) }
        }
    }
}

extension RecordLogStore {
    /// Makes new views use the indexes of a newer catalog; older views keep theirs.
    final func adoptIndexes(_ catalog: Catalog) {
        replaceSchema { RecordLogSchema(tables: $0.tables.compactMap { $0?.reindexed(catalog) }, links: $0.links) }
    }
}
