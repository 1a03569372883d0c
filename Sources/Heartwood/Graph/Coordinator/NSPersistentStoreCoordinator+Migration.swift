import Foundation
import RecordLog

/// Moving stores to another location or another type.
extension NSPersistentStoreCoordinator {
    /// Writes a store's contents to a new store of any type, and adds the new store in its place. Unsaved changes of contexts are not
    /// included.
    ///
    /// The new store has its own identity, except where it is said below. It has the client's metadata and the configuration of the old store,
    /// whose file stays. Objects of the old store now belong to a removed store: `reset()` the contexts and fetch again. Between record logs, in
    /// files or in memory, rows are copied unchanged and keep their numbers. From an SQLite store to a record log in a file, objects keep their
    /// URIs, since the new store has the old one's identifier; it has the old one's history if its options ask for one. A store of the type
    /// `NSSQLiteStoreType` is written in Core Data's layout, from the rows of a record log, a store in memory or an atomic store, without history;
    /// it can then only be read. Rows of a record log go into a PostgreSQL database in one transaction, and come out of it as of one moment, without
    /// history; they keep their numbers. All other migrations copy objects, without their classes' code and without validation, and hold all of
    /// them in memory; derived attributes are derived again.
    ///
    /// The new store is written beside its URL and takes it once it is complete, with the permissions, owner and group of the old store's
    /// file. Crash points: before that there is no file at the URL; after it the complete store. An `NSIncrementalStore` gets everything at
    /// the URL itself, in one save, and has to find it there. A store of a built-in type at `/dev/null` is in memory.
    /// - Returns: the new store.
    /// - Throws: 134070 if the store is not of this coordinator, or if a file that is not empty is at the URL; 134000 for a type without a
    ///   class; 134080 and 134030 if the new store cannot be written. The old store is then still added, and no file is at the URL.
    /// - Complexity: O(objects).
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        adding.lock()
        defer { adding.unlock() }
        guard persistentStores.contains(where: { $0 === store }) else { throw CoreDataError.unknownStore() }
        let storeType = StoreClasses.type(storeType, at: url)
        let new = try StoreClasses.storeClass(for: storeType).init(
            persistentStoreCoordinator: self, configurationName: store.configuration, at: url, options: options, ())
        let hasFile = storeType != NSInMemoryStoreType && url.isFileURL
        if hasFile { try StoreFiles.free(url) }
        let moved = try new.seam.transferStore?.takeContents(of: store, in: self)
            ?? store.seam.transferStore?.giveContents(to: new, at: url, in: self)
            ?? .copies(StoreMigration(coordinator: self, store: store, url: url, options: options, type: storeType).write(to: new))
        do {
            try attach(new, inPlaceOf: store, moved)
        } catch {
            if hasFile { try? StoreClasses.fileClass(for: storeType).discard(at: url, options: options) }
            throw error
        }
        return new
    }

    /// The modern spelling.
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }
}

/// A migration that copies objects.
package struct StoreMigration {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let url: URL
    let options: [AnyHashable: Any]?
    let type: String

    package init(coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore, url: URL, options: [AnyHashable: Any]?, type: String) {
        (self.coordinator, self.store, self.url, self.options, self.type) = (coordinator, store, url, options, type)
    }

    /// Writes the objects to the file or contents of `new`.
    /// - Parameter new: not loaded yet; a store in memory gets its contents here.
    /// - Returns: the copied objects.
    package func write(to new: NSPersistentStore) throws -> [ObjectCopy.Pair] {
        // A store with a file is made beside its URL. Other stores are known only by their URL.
        let isInMemory = type == NSInMemoryStoreType
        let isPlacedAtOnce = try isInMemory || !url.isFileURL || !StoreClasses.fileClass(for: type).isOneFile
        let folder = isPlacedAtOnce ? nil : try MigrationFolder.claimed(besides: url)
        defer { folder?.abandon() }
        let file = folder?.file ?? url
        let target = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
        do {
            var writable = options
            writable?[NSReadOnlyPersistentStoreOption] = nil
            let made = try target.addPersistentStore(
                ofType: type, configurationName: store.configuration, at: file, options: writable)
            try copyMetadata(to: made)
            let copied = try ObjectCopy(store: store, of: coordinator, to: target).run()
            if copied.isEmpty { try made.seam.save(SaveBatch(origin: .none) { _ in nil }) }
            if isInMemory { _ = try new.seam.transferStore?.takeContents(of: made, in: coordinator) }
            try target.remove(made)
            if folder != nil { try LogStore.rename(file.path, to: url.path, replacing: false, like: store.regularFilePath) }
            return copied
        } catch {
            for store in target.persistentStores { try? target.remove(store) }
            throw RecordLogErrors.wrapIfOfEngine(error)
        }
    }

    private func copyMetadata(to made: NSPersistentStore) throws {
        let clients = store.metadata.filter { !RecordLogMetadata.storesOwn.contains($0.key) }
        if !clients.isEmpty { try made.seam.setMetadata(made.metadata.merging(clients) { $1 }) }
    }
}

extension NSPersistentStore {
    /// The store's file, whose permissions a copy gets; nil if the store has none.
    package final var regularFilePath: String? {
        guard type != NSInMemoryStoreType, let url, url.isFileURL else { return nil }
        let path = url.resolvingSymlinksInPath().path
        return (try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType) == .typeRegular ? path : nil
    }
}
