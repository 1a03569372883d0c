import Foundation
import Synchronization

/// A document whose contents are managed objects in one file: opened, closed, saved automatically or elsewhere, reverted, undone.
///
/// Apple's counterparts are `UIManagedDocument` and `NSPersistentDocument`; names follow the former. Here a document is one file, not a
/// package, and needs no user interface: its context uses the main queue or its own queue.
///
/// File operations are asynchronous and run one after the other. Completion handlers, and the overridable methods that report on the file,
/// are called on the context's queue. Errors are Core Data's, as the store throws them.
///
/// Open for subclassing: a subclass chooses the store type, adds stores (`configurePersistentStoreCoordinator`), and handles errors and
/// changes of the file's location.
open class ManagedDocument: NSObject, @unchecked Sendable {
    // Unchecked: mutable state is in `locked`, under its lock; the rest is confined to `work` or to the context's queue.

    /// The document's stack.
    public final let container: NSPersistentContainer
    /// The document's objects. Use it on its queue.
    public final let managedObjectContext: NSManagedObjectContext
    public final var managedObjectModel: NSManagedObjectModel { container.managedObjectModel }

    struct LockedState: Sendable {
        var fileURL: URL
        var state = State.closed
        var configuration: String?
        var autosaveDelay: TimeInterval = 15
        var fileCheckInterval: TimeInterval = 1
        var hasUndoManager = true
        /// The time at which the next save is due.
        var deadline = ContinuousClock.now
        /// The time at which a queued block checks `deadline`; nil if none is queued.
        var nextCheck: ContinuousClock.Instant?
    }

    final let locked: Mutex<LockedState>
    private struct Options: @unchecked Sendable {
        // Unchecked: property list values that do not change.
        var values: [String: Any]?
    }
    private let options = Mutex(Options())
    /// Runs the file operations, one after the other.
    final let work = DispatchQueue(label: "heartwood.document")
    /// Used on `work`.
    final var watch: (any DispatchSourceTimer)?
    /// Used on `work`.
    final var changeObserver: (any NSObjectProtocol)?

    /// Makes a document whose file is, or will be, at `fileURL`. Reads nothing.
    /// - Parameters:
    ///   - fileURL: the document's file.
    ///   - model: cannot be changed from now on.
    ///   - concurrencyType: the context's; a private queue is right for a document that no user interface shows.
    public init(
        fileURL: URL, managedObjectModel model: NSManagedObjectModel,
        concurrencyType: NSManagedObjectContextConcurrencyType = .mainQueueConcurrencyType
    ) {
        demand(concurrencyType != .confinementConcurrencyType, "A document's context has a queue: the main one, or its own.")
        container = NSPersistentContainer(name: fileURL.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        managedObjectContext = concurrencyType == .mainQueueConcurrencyType ? container.viewContext : container.newBackgroundContext()
        locked = Mutex(LockedState(fileURL: fileURL))
        super.init()
    }

    /// Makes a document with the main bundle's model: all its model files, merged.
    /// - Parameters:
    ///   - fileURL: the document's file.
    ///   - fileID: names the module that may have the classes of entities whose model names no module.
    /// - Precondition: the main bundle has a model.
    public convenience init(fileURL: URL, fileID: StaticString = #fileID) {
        guard let model = NSManagedObjectModel.mergedModel(from: nil, fileID: fileID) else {
            misuse("The main bundle has no model; give the document one with init(fileURL:managedObjectModel:).")
        }
        self.init(fileURL: fileURL, managedObjectModel: model)
    }

    deinit {
        watch?.cancel()
        if let changeObserver { NotificationCenter.default.removeObserver(changeObserver) }
    }

    // MARK: State

    /// The URL of the document's file: the URL at which it was opened, to which a save moved it, or at which it was found after another
    /// program had moved it.
    public final var fileURL: URL { locked.withLock { $0.fileURL } }
    /// The file's name, without its extension.
    public final var localizedName: String { fileURL.deletingPathExtension().lastPathComponent }
    public final var documentState: State { locked.withLock { $0.state } }

    /// The model configuration whose entities the document has; nil for all. Set it before opening.
    public final var modelConfiguration: String? {
        get { locked.withLock { $0.configuration } }
        set { locked.withLock { $0.configuration = newValue } }
    }

    /// The options of the document's store. Set them before opening.
    public final var persistentStoreOptions: [String: Any]? {
        get { options.withLock { $0 }.values }
        set {
            let new = Options(values: newValue)
            options.withLock { $0 = new }
        }
    }

    /// The number of seconds after its last change at which a document saves itself; infinity for never. The default is 15. A new value
    /// applies from the next change.
    public final var autosaveDelay: TimeInterval {
        get { locked.withLock { $0.autosaveDelay } }
        set { locked.withLock { $0.autosaveDelay = newValue } }
    }

    /// The number of seconds between checks of the file's location, each of which is one system call; infinity for no checks. The default
    /// is 1. A new value applies from the next opening.
    public final var fileCheckInterval: TimeInterval {
        get { locked.withLock { $0.fileCheckInterval } }
        set { locked.withLock { $0.fileCheckInterval = newValue } }
    }

    /// Whether opening the document gives the context an undo manager if it has none. The default is true.
    public final var hasUndoManager: Bool {
        get { locked.withLock { $0.hasUndoManager } }
        set { locked.withLock { $0.hasUndoManager = newValue } }
    }

    /// The context's undo manager. Use it on the context's queue.
    public final var undoManager: UndoManager? {
        get { managedObjectContext.undoManager }
        set { managedObjectContext.undoManager = newValue }
    }

    /// Whether there are changes to save. Waits for the context's queue if the caller is not on it.
    open var hasUnsavedChanges: Bool { managedObjectContext.performAndWait { managedObjectContext.hasChanges } }

    final func change(_ body: (inout State) -> Void) {
        let isChanged = locked.withLock { locked in
            let before = locked.state
            body(&locked.state)
            return locked.state != before
        }
        if isChanged { NotificationCenter.default.post(name: Self.stateChangedNotification, object: self) }
    }

    // MARK: Overridable methods

    /// Returns the store type for a file.
    /// - Parameter fileType: the extension of the file's name.
    /// - Returns: by default `NSRecordLogStoreType`. Stores of other types do not follow a file that other programs move.
    open func persistentStoreType(forFileType fileType: String) -> String { NSRecordLogStoreType }

    /// Adds the document's store to the container's coordinator. An override may add more stores, which are removed when the document is
    /// closed. Called on the document's own queue.
    /// - Parameters:
    ///   - url: the document's file, which exists unless the document is being created.
    ///   - fileType: the extension of its name.
    ///   - configuration: `modelConfiguration`.
    ///   - storeOptions: `persistentStoreOptions`.
    /// - Throws: an error that keeps the document from being opened.
    open func configurePersistentStoreCoordinator(
        for url: URL, ofType fileType: String, modelConfiguration configuration: String?, storeOptions: [String: Any]?
    ) throws {
        try container.persistentStoreCoordinator.addPersistentStore(
            ofType: persistentStoreType(forFileType: fileType), configurationName: configuration, at: url, options: storeOptions)
    }

    /// Receives an error that no caller receives: that of an automatic save, or of an operation with a completion handler. Does nothing by
    /// default.
    open func handleError(_ error: any Error) {}

    /// Called after another program has moved the file; the document has followed it, and `fileURL` is the new URL. Apple's counterpart is
    /// `presentedItemDidMove`.
    open func fileDidMove(to url: URL) {}

    /// Called after the file was removed (`.fileMissing`). Unsaved changes and the saved state stay available while the document is open.
    open func fileWasRemoved() {}

    /// Called after another file has replaced the document's (`.inConflict`): another store, or an older state of this one.
    open func fileWasReplaced() {}
}
