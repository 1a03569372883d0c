import Foundation

/// Stores as files: moved, replaced, removed.
extension NSPersistentStoreCoordinator {
    /// Where a store is.
    public final func url(for store: NSPersistentStore) -> URL {
        store.url ?? URL(fileURLWithPath: "/dev/null")
    }

    /// Has a loaded store go over to another URL, where its file, or a copy of it, is already. Its objects stay valid.
    /// - Returns: false where that is another store, there is none, or the type has no files; the store stays where it was then.
    @discardableResult
    public final func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard persistentStores.contains(where: { $0 === store }) else { return false }
        let change: [AnyHashable: Any] = [NSUUIDChangedPersistentStoresKey: [store, store]]
        guard (try? store.relocate(to: url)) != nil else { return false }
        announce(.NSPersistentStoreCoordinatorStoresDidChange, change)
        return true
    }

    /// Puts a copy of the store at `sourceURL`, with its identity, in the place of the one at `destinationURL`, if there is one.
    ///
    /// The copy is written beside the destination and takes its place once it is whole: a source that cannot be read, a full disk and
    /// a crash leave the destination as it was. The source may be in use. Others who have the destination open find, when they save
    /// next, the copy if it is a later state of the same store, else an error. The copy has the permissions, owner and group of the file
    /// that it replaces, as far as the process may set them, else those of the source. Where the destination is loaded in this coordinator it is removed
    /// and added again, with its options: its objects are gone, as those of any store that is removed.
    /// - Throws: 134000 for a type without a class or files; 134080 where the source cannot be read; 134070 where the destination is
    ///   the source, or is no file; 134030 where the copy cannot be written. A destination that was loaded is loaded then too.
    /// - Complexity: O(source).
    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        let storeClass = try StoreClasses.fileClass(for: storeType)
        guard destinationURL.resolvingSymlinksInPath() != sourceURL.resolvingSymlinksInPath() else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(sourceURL.path) cannot take its own place.",
                [NSFilePathErrorKey: sourceURL.path])
        }
        guard let store = loadedStore(at: destinationURL) else {
            return try storeClass.replace(at: destinationURL, options: destinationOptions, with: sourceURL, sourceOptions: sourceOptions)
        }
        // What cannot be read is refused while the store is there still.
        _ = try storeClass.metadata(at: sourceURL, options: sourceOptions)
        let (type, configuration, options) = (store.type, store.configurationName, store.options)
        try remove(store)
        let replacing = Result {
            try storeClass.replace(at: destinationURL, options: destinationOptions, with: sourceURL, sourceOptions: sourceOptions)
        }
        _ = try addPersistentStore(ofType: type, configurationName: configuration, at: destinationURL, options: options)
        try replacing.get()
    }

    /// The same, with the modern spelling.
    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
            ofType: storeType.rawValue)
    }

    /// What `destroyPersistentStore(at:ofType:options:)` does.
    final func performDestruction(at url: URL, ofType storeType: String, _ options: [AnyHashable: Any]?) throws {
        guard storeType != NSInMemoryStoreType, !NSPersistentStore.isNowhere(url) else { return }
        let storeClass = try StoreClasses.fileClass(for: storeType)
        adding.lock()
        defer { adding.unlock() }
        if let store = loadedStore(at: url) {
            guard type(of: store) == storeClass else {
                throw CoreDataError.make(
                    NSPersistentStoreOperationError,
                    "The store at \(url.path) is loaded in this coordinator as one of the type \(store.type), and was not removed.",
                    [NSAffectedStoresErrorKey: [store], NSFilePathErrorKey: url.path])
            }
            try store.checkDestruction(at: url, options: options)
            try remove(store)
        }
        try storeClass.empty(at: url, options: options)
    }

    /// The store whose file a URL leads to, be it through links. One in memory has none, whatever its URL.
    private func loadedStore(at url: URL) -> NSPersistentStore? {
        if let store = persistentStore(for: url), store.type != NSInMemoryStoreType { return store }
        guard url.isFileURL else { return nil }
        let file = url.resolvingSymlinksInPath().standardizedFileURL
        return persistentStores.first { store in
            store.type != NSInMemoryStoreType && store.url?.resolvingSymlinksInPath().standardizedFileURL == file
        }
    }

    /// The same, with the modern spelling.
    public final func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }
}
