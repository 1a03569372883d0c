import Foundation

/// Moving, replacing and removing the files of stores.
extension NSPersistentStoreCoordinator {
    /// The location of a store; `/dev/null` if it has none.
    public final func url(for store: NSPersistentStore) -> URL {
        store.url ?? URL(fileURLWithPath: "/dev/null")
    }

    /// Switches a loaded store to another URL, at which its file, or a copy of it, already exists. The store's objects stay valid.
    /// - Returns: false if there is no file, if it is another store's, or if the type has no files; the store then keeps its file.
    @discardableResult
    public final func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard persistentStores.contains(where: { $0 === store }) else { return false }
        let change: [AnyHashable: Any] = [NSUUIDChangedPersistentStoresKey: [store, store]]
        guard (try? store.seam.relocate(to: url)) != nil else { return false }
        announce(.NSPersistentStoreCoordinatorStoresDidChange, change)
        return true
    }

    /// Replaces the store at `destinationURL`, if there is one, by a copy of the store at `sourceURL` with the same identity.
    ///
    /// The copy is written beside the destination and takes its path once it is complete: an unreadable source, a full disk or a crash
    /// leaves the destination unchanged. The source may be in use. Other coordinators and processes that have the destination open find, at
    /// their next save, the copy if it is a later state of the same store, and otherwise an error. The copy has the permissions, owner and
    /// group of the file that it replaces, as far as the process may set them; without such a file, those of the source. If the destination
    /// is loaded in this coordinator, it is removed and added again with its options; its objects are then gone, like those of any removed
    /// store.
    ///
    /// `/dev/null` stands for the store in memory that this coordinator has there: as the destination it gets the source's contents, as the
    /// source of a record log its contents are written.
    /// - Throws: 134000 for a type without a class or files; 134080 if the source cannot be read; 134070 if the destination is the source,
    ///   or is no file; 134030 if the copy cannot be written. A destination that was loaded is then loaded again.
    /// - Complexity: O(source).
    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        let storeClass = try StoreClasses.fileClass(for: storeType)
        guard destinationURL.resolvingSymlinksInPath() != sourceURL.resolvingSymlinksInPath() else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(sourceURL.path) cannot replace itself.",
                [NSFilePathErrorKey: sourceURL.path])
        }
        if StoreClasses.type(storeType, at: destinationURL) == NSInMemoryStoreType {
            return try fillStoreInMemory(at: destinationURL, from: sourceURL, sourceOptions, type: storeType)
        }
        let source = StoreClasses.type(storeType, at: sourceURL) == NSInMemoryStoreType ? try storeInMemory(at: sourceURL) : nil
        func replace() throws {
            guard let source else {
                return try storeClass.replace(at: destinationURL, options: destinationOptions, with: sourceURL, sourceOptions: sourceOptions)
            }
            try source.write(to: destinationURL, destinationOptions, type: storeType)
        }
        guard let store = loadedStore(at: destinationURL) else { return try replace() }
        // An unreadable source is refused while the store is still loaded.
        if source == nil { _ = try storeClass.metadata(at: sourceURL, options: sourceOptions) }
        let (type, configuration, options) = (store.type, store.configurationName, store.options)
        try remove(store)
        let replacing = Result { try replace() }
        _ = try addPersistentStore(ofType: type, configurationName: configuration, at: destinationURL, options: options)
        try replacing.get()
    }

    /// The modern spelling.
    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
            ofType: storeType.rawValue)
    }

    /// Implements `destroyPersistentStore(at:ofType:options:)`.
    final func performDestruction(at url: URL, ofType storeType: String, _ options: [AnyHashable: Any]?) throws {
        guard storeType != NSInMemoryStoreType, !NSPersistentStore.isNowhere(url) else { return }
        let storeClass = try StoreClasses.fileClass(for: storeType)
        adding.lock()
        defer { adding.unlock() }
        if let store = loadedStore(at: url) {
            guard ObjectIdentifier(type(of: store)) == ObjectIdentifier(storeClass) else {
                throw CoreDataError.make(
                    NSPersistentStoreOperationError,
                    "The store at \(url.path) is loaded in this coordinator as one of the type \(store.type), and was not removed.",
                    [NSAffectedStoresErrorKey: [store], NSFilePathErrorKey: url.path])
            }
            try store.seam.checkDestruction(at: url, options: options)
            try remove(store)
        }
        try storeClass.empty(at: url, options: options)
    }

    /// The loaded store whose file `url` leads to, also through links. A store in memory has no file, whatever its URL.
    private func loadedStore(at url: URL) -> NSPersistentStore? {
        if let store = persistentStore(for: url), store.type != NSInMemoryStoreType { return store }
        guard url.isFileURL else { return nil }
        let file = url.resolvingSymlinksInPath().standardizedFileURL
        return persistentStores.first { store in
            store.type != NSInMemoryStoreType && store.url?.resolvingSymlinksInPath().standardizedFileURL == file
        }
    }

    /// The modern spelling.
    public final func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }
}
