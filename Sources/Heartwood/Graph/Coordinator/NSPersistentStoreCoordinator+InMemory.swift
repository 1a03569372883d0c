import Foundation
import RecordLog

/// Stores in memory as ends of a replacement. Their URL is `/dev/null`, or a path below it.
extension NSPersistentStoreCoordinator {
    /// The store in memory at a URL.
    /// - Throws: 134080 if there is none; 134070 if there are several, since the URL does not tell them apart.
    final func storeInMemory(at url: URL) throws -> RecordLogStore {
        let found = persistentStores.compactMap(\.ownLog).filter { $0.isInMemory && $0.url?.standardizedFileURL == url.standardizedFileURL }
        guard let store = found.first else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "This coordinator has no store in memory at \(url.path); add one first.",
                [NSFilePathErrorKey: url.path])
        }
        guard found.count == 1 else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "This coordinator has \(found.count) stores in memory at \(url.path). Give each a URL of its own, such as /dev/null/name.",
                [NSAffectedStoresErrorKey: found, NSFilePathErrorKey: url.path])
        }
        return store
    }

    /// Puts a store with the contents and the identity of a file in the place of a store in memory.
    /// - Throws: the errors of adding the source read-only; 134080 and 134070 as `storeInMemory(at:)`. The store in memory is unchanged then.
    final func fillStoreInMemory(at url: URL, from source: URL, _ sourceOptions: [AnyHashable: Any]?, type: String) throws {
        adding.lock()
        defer { adding.unlock() }
        let old = StoreClasses.type(type, at: source) == NSInMemoryStoreType ? try storeInMemory(at: source) : nil
        let replaced = try storeInMemory(at: url)
        let new = InMemoryStore(
            persistentStoreCoordinator: self, configurationName: replaced.configuration, at: url, options: replaced.options)
        if let old {
            try old.copyAll(to: new)
        } else {
            let reader = NSPersistentStoreCoordinator(unlisted: managedObjectModel)
            defer { for store in reader.persistentStores { try? reader.remove(store) } }
            var reading = sourceOptions ?? [:]
            reading[NSReadOnlyPersistentStoreOption] = true
            let store = try reader.addPersistentStore(
                ofType: type, configurationName: replaced.configuration, at: source, options: reading)
            let metadata = store.metadata ?? [:]
            let made = try reader.migratePersistentStore(store, to: url, withType: NSInMemoryStoreType)
            try made.seam.takeOver(metadata)
            try made.ownLog?.copyAll(to: new)
        }
        try attach(new, inPlaceOf: replaced)
    }
}

extension RecordLogStore {
    /// Writes the newest commit of this store in memory to another one, which is not loaded. It is the same store, as a copied file is.
    fileprivate final func copyAll(to new: RecordLogStore) throws {
        let (path, options) = try new.location()
        try copyLog(to: path, options, replacing: false)
    }

    /// Replaces the record log at `url` by the newest commit of this store in memory, with the same identity.
    /// - Throws: 134091 for another type; 134030 if the file cannot be written. The file at the URL is then unchanged.
    final func write(to url: URL, _ options: [AnyHashable: Any]?, type: String) throws {
        guard type == NSRecordLogStoreType, try StoreClasses.storeClass(for: type) == RecordLogStore.self else {
            throw CoreDataError.unsupported(
                "A store in memory cannot replace a file of the type \(type); migratePersistentStore makes such a file from it.")
        }
        let target = try RecordLogFiles.locationToChange(url, options)
        var metadata = metadata ?? [:]
        metadata[NSStoreTypeKey] = type
        let bytes = try RecordLogMetadata.encode(metadata)
        try copyLog(to: target.path, target.options, replacing: true, [RecordLogSystemRow.metadata: bytes])
    }

    private func copyLog(
        to path: String, _ options: StoreOptions, replacing: Bool, _ systemValues: [UInt64: [UInt8]] = [:]
    ) throws {
        do {
            try loaded().log.copy(to: path, options: options, replacing: replacing, systemValues: systemValues)
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }
}
