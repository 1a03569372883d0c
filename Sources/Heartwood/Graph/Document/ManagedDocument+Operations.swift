import Foundation
import Synchronization

/// Operations on the whole document. They run one after the other, in the order of the calls. An operation that fails leaves the document
/// unchanged, unless stated otherwise.
extension ManagedDocument {
    /// Opens the document's file.
    /// - Throws: 134070 if the document is already open; 134080 if there is no file, or the file cannot be read; 134100 if it was made with
    ///   another model.
    public final func open() async throws { try await run { try $0.openFile() } }

    /// Saves the changes and closes the file. Resets the context: its objects no longer belong to it. Does nothing if the document is not
    /// open.
    /// - Throws: as saving does; the document then stays open. To close it without its changes, roll the context back first.
    public final func close() async throws { try await run { try $0.closeFile() } }

    /// Saves the changes.
    /// - Throws: as `NSManagedObjectContext.save()`; the context keeps its changes.
    public final func save() async throws { try await run { try $0.saveChanges() } }

    /// Saves the document to a URL, for one of several purposes.
    /// - Throws: as `NSManagedObjectContext.save()`; 134070 if a file already exists at a new URL. A new file that cannot be written is
    ///   removed. If the document's new file was made, or the document has moved to it, but its changes cannot be saved, then the document
    ///   is open there with its changes, and `save()` tries again.
    public final func save(to url: URL, for operation: SaveOperation) async throws { try await run { try $0.save(url, operation) } }

    /// Drops the changes and the undo actions, and shows the contents of a file. If `url` is another file than the document's own, such as
    /// a backup, a copy of it replaces the document's file.
    ///
    /// With its own file, objects stay valid; with another one they no longer belong to the context. A file of another version of the model
    /// is migrated first, if the document's options ask for that; the file itself stays unchanged.
    /// - Throws: 134080 if the file cannot be read; 134100 if it was made with another model. Nothing is dropped then.
    public final func revert(toContentsOf url: URL) async throws { try await run { try $0.revert(to: url) } }

    // MARK: With completion handlers, which have no default value, so that `open()` stays unambiguous

    /// Opens the document's file.
    /// - Parameter completionHandler: receives whether the operation succeeded; `handleError` receives the error.
    public final func open(completionHandler: (@Sendable (Bool) -> Void)?) { start(completionHandler) { try $0.openFile() } }

    public final func close(completionHandler: (@Sendable (Bool) -> Void)?) { start(completionHandler) { try $0.closeFile() } }

    public final func save(to url: URL, for operation: SaveOperation, completionHandler: (@Sendable (Bool) -> Void)?) {
        start(completionHandler) { try $0.save(url, operation) }
    }

    public final func revert(toContentsOf url: URL, completionHandler: (@Sendable (Bool) -> Void)?) {
        start(completionHandler) { try $0.revert(to: url) }
    }

    @concurrent
    private func run(_ body: @escaping @Sendable (ManagedDocument) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            work.async { continuation.resume(with: Result { try body(self) }) }
        }
    }

    private func start(_ handler: (@Sendable (Bool) -> Void)?, _ body: @escaping @Sendable (ManagedDocument) throws -> Void) {
        work.async {
            let result = Result { try body(self) }
            self.managedObjectContext.perform {
                if case .failure(let error) = result { self.handleError(error) }
                handler?((try? result.get()) != nil)
            }
        }
    }
}

/// The operations, as they run on the document's queue.
extension ManagedDocument {
    private var isOpen: Bool { !documentState.contains(.closed) }
    private var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }
    /// The store of the document's own file.
    final var store: NSPersistentStore? { coordinator.persistentStore(for: fileURL) }

    private func addStores() throws {
        let url = fileURL
        do {
            try configurePersistentStoreCoordinator(
                for: url, ofType: url.pathExtension, modelConfiguration: modelConfiguration, storeOptions: persistentStoreOptions)
        } catch {
            removeStores()
            throw error
        }
    }

    /// - Returns: the first error.
    @discardableResult
    private func removeStores() -> (any Error)? {
        var failure: (any Error)?
        for store in coordinator.persistentStores {
            do { try coordinator.remove(store) } catch { failure = failure ?? error }
        }
        return failure
    }

    // MARK: Opening and closing

    fileprivate func openFile() throws {
        let url = fileURL
        guard !isOpen else { throw DocumentError.isOpen(url) }
        guard FileManager.default.fileExists(atPath: url.path) else { throw DocumentError.isMissing(url) }
        try addStores()
        begin()
    }

    private func create(_ url: URL) throws {
        let before = fileURL
        guard !isOpen else { throw DocumentError.isOpen(before) }
        try StoreFiles.free(url)
        locked.withLock { $0.fileURL = url }
        do {
            try addStores()
        } catch {
            locked.withLock { $0.fileURL = before }
            throw error
        }
        begin()
        // Objects may have been inserted before the file was made.
        try saveChanges()
    }

    private func begin() {
        let context = managedObjectContext, wantsUndo = hasUndoManager
        context.performAndWait {
            if wantsUndo, context.undoManager == nil { context.undoManager = UndoManager() }
        }
        changeObserver = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
        ) { [weak self] _ in self?.scheduleAutosave() }
        change { $0 = .normal }
        beginWatching()
    }

    fileprivate func closeFile() throws {
        guard isOpen else { return }
        let context = managedObjectContext
        try saveChanges()
        endWatching()
        if let changeObserver { NotificationCenter.default.removeObserver(changeObserver) }
        changeObserver = nil
        forgetObjects(context)
        // Closing a file that was removed or replaced fails, and that failure is not an error.
        let isLost = !documentState.isDisjoint(with: [.fileMissing, .inConflict])
        let failure = removeStores()
        change { $0 = .closed }
        if let failure, !isLost { throw failure }
    }

    private func forgetObjects(_ context: NSManagedObjectContext) {
        context.performAndWait {
            context.undoManager?.removeAllActions()
            context.reset()
        }
    }

    // MARK: Saving

    final func saveChanges() throws {
        guard isOpen else { throw DocumentError.isClosed(fileURL) }
        let context = managedObjectContext
        do {
            try context.performAndWait {
                if context.hasChanges { try context.save() }
            }
        } catch {
            change { $0.insert(.savingError) }
            checkFile()
            throw error
        }
        change { $0.remove(.savingError) }
    }

    fileprivate func save(_ url: URL, _ operation: SaveOperation) throws {
        switch operation {
        case .forCreating: try create(url)
        case .forOverwriting:
            guard url.standardizedFileURL == fileURL.standardizedFileURL else { throw DocumentError.isElsewhere(url, fileURL) }
            try saveChanges()
        case .forCopying:
            try saveChanges()
            try copyFile(to: url)
        case .forMoving:
            guard isOpen else { throw DocumentError.isClosed(fileURL) }
            try copyFile(to: url)
            try goOver(to: url)
            try saveChanges()
        }
    }

    /// Copies the saved state, even if the file was removed.
    private func copyFile(to url: URL) throws {
        try StoreFiles.free(url)
        guard let store else { throw DocumentError.isMissing(fileURL) }
        if let store = store.ownLog {
            try store.copyLog(to: url)
        } else {
            try StoreClasses.fileClass(for: store.type)
                .replace(at: url, options: store.options, with: fileURL, sourceOptions: store.options)
        }
    }

    private func goOver(to url: URL) throws {
        if let store, coordinator.setURL(url, for: store) {
            locked.withLock { $0.fileURL = url }
        } else {
            // For a store type that cannot switch its file.
            forgetObjects(managedObjectContext)
            removeStores()
            locked.withLock { $0.fileURL = url }
            try addStores()
        }
        change { $0.subtract([.fileMissing, .inConflict]) }
    }

    // MARK: Reverting

    /// Makes a migrated copy of another file beside the document's file, if the document's options ask for migration.
    private func migratedCopy(of url: URL, _ store: NSPersistentStore, _ metadata: [String: Any]) throws -> URL {
        let copy = fileURL.deletingLastPathComponent().appendingPathComponent(fileURL.lastPathComponent + ".reverting")
        let storeClass = try StoreClasses.fileClass(for: store.type)
        try storeClass.destroy(at: copy, options: nil)
        do {
            try storeClass.replace(at: copy, options: nil, with: url, sourceOptions: store.options)
            let end = MigrationEnd(url: copy, type: store.type, options: store.options, configuration: modelConfiguration)
            let mismatch = RecordLogMetadata.mismatch(
                path: url.path, model: managedObjectModel, configuration: modelConfiguration, metadata: metadata)
            guard try coordinator.migrate(end, after: mismatch) else { throw mismatch }
            return copy
        } catch {
            try? storeClass.destroy(at: copy, options: nil)
            throw error
        }
    }

    fileprivate func revert(to url: URL) throws {
        guard isOpen, let store else { throw DocumentError.isClosed(fileURL) }
        let context = managedObjectContext
        let isOwn = url.standardizedFileURL == fileURL.standardizedFileURL
        if isOwn, documentState.isDisjoint(with: [.fileMissing, .inConflict]) {
            context.performAndWait {
                context.rollback()
                context.undoManager?.removeAllActions()
                store.followOthers()
                context.performRefreshOfAllObjects()
            }
            return change { $0.remove(.savingError) }
        }
        let storeClass = try StoreClasses.fileClass(for: store.type)
        let metadata = try storeClass.metadata(at: url, options: store.options)
        var source = url
        if !managedObjectModel.isConfiguration(withName: modelConfiguration, compatibleWithStoreMetadata: metadata) {
            source = try migratedCopy(of: url, store, metadata)
        }
        defer { if source != url { try? storeClass.destroy(at: source, options: nil) } }
        // The document's store will find its file replaced. If the replacement fails, the document is unchanged.
        if !isOwn || source != url {
            try storeClass.replace(at: fileURL, options: store.options, with: source, sourceOptions: store.options)
        }
        forgetObjects(context)
        removeStores()
        do {
            try addStores()
        } catch {
            endWatching()
            change { $0 = .closed }
            throw error
        }
        change { $0 = .normal }
    }
}
