import Foundation
import Synchronization

/// A document whose contents are managed objects in one file: opened, closed, saved by itself, saved elsewhere, reverted, undone.
///
/// Apple's are `UIManagedDocument` and `NSPersistentDocument`; names are the former's where it has them. Here a document is one file, not
/// a package, and needs no user interface: its context is that of the main queue, or has a queue of its own.
///
/// What is done to the file is done asynchronously, one thing after another. Completion handlers, and the methods to be overridden that
/// tell of the file, are called on the context's queue. Errors are Core Data's, as the store throws them.
///
/// Open for subclassing: a subclass chooses the store type and adds stores (`configurePersistentStoreCoordinator`), and hears of errors and
/// of what becomes of the file.
open class ManagedDocument: NSObject, @unchecked Sendable {
    // Unchecked: what changes lies in `standing`, under its lock; the rest is confined to `work` or to the context's queue.

    /// The document's stack.
    public final let container: NSPersistentContainer
    /// The document's objects. Use it on its queue.
    public final let managedObjectContext: NSManagedObjectContext
    public final var managedObjectModel: NSManagedObjectModel { container.managedObjectModel }

    struct Standing: Sendable {
        var fileURL: URL
        var state = State.closed
        var configuration: String?
        var autosaveDelay: TimeInterval = 15
        var fileCheckInterval: TimeInterval = 1
        var hasUndoManager = true
        /// When the next save is due.
        var deadline = ContinuousClock.now
        /// When somebody looks whether it is.
        var nextLook: ContinuousClock.Instant?
    }

    final let standing: Mutex<Standing>
    private struct Options: @unchecked Sendable {
        // Unchecked: property list values, which nobody changes.
        var values: [String: Any]?
    }
    private let options = Mutex(Options())
    /// What is done to the file, one thing after another.
    final let work = DispatchQueue(label: "heartwood.document")
    /// Used on `work`.
    final var watch: (any DispatchSourceTimer)?
    /// Used on `work`.
    final var changeObserver: (any NSObjectProtocol)?

    /// A document whose file is, or will be, at `fileURL`. Nothing is read yet.
    /// - Parameters:
    ///   - model: fixed from now on.
    ///   - concurrencyType: the context's: for a document that no user interface shows, a queue of its own.
    public init(
        fileURL: URL, managedObjectModel model: NSManagedObjectModel,
        concurrencyType: NSManagedObjectContextConcurrencyType = .mainQueueConcurrencyType
    ) {
        precondition(concurrencyType != .confinementConcurrencyType, "A document's context has a queue: the main one, or its own.")
        container = NSPersistentContainer(name: fileURL.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        managedObjectContext = concurrencyType == .mainQueueConcurrencyType ? container.viewContext : container.newBackgroundContext()
        standing = Mutex(Standing(fileURL: fileURL))
        super.init()
    }

    /// A document with the model of the main bundle: all the model files in it, merged.
    /// - Parameter fileID: tells in which module the entities' classes may be found that the model names without one.
    /// - Precondition: there is one.
    public convenience init(fileURL: URL, fileID: StaticString = #fileID) {
        guard let model = NSManagedObjectModel.mergedModel(from: nil, fileID: fileID) else {
            preconditionFailure("The main bundle has no model; give the document one with init(fileURL:managedObjectModel:).")
        }
        self.init(fileURL: fileURL, managedObjectModel: model)
    }

    deinit {
        watch?.cancel()
        if let changeObserver { NotificationCenter.default.removeObserver(changeObserver) }
    }

    // MARK: What it is

    /// Where the document's file is: where it was opened, moved to by a save, or found to have been moved to by others.
    public final var fileURL: URL { standing.withLock { $0.fileURL } }
    /// The file's name, without its extension.
    public final var localizedName: String { fileURL.deletingPathExtension().lastPathComponent }
    public final var documentState: State { standing.withLock { $0.state } }

    /// The model configuration whose entities the document has; nil for all. Set it before opening.
    public final var modelConfiguration: String? {
        get { standing.withLock { $0.configuration } }
        set { standing.withLock { $0.configuration = newValue } }
    }

    /// The options of the document's store. Set them before opening.
    public final var persistentStoreOptions: [String: Any]? {
        get { options.withLock { $0 }.values }
        set {
            let new = Options(values: newValue)
            options.withLock { $0 = new }
        }
    }

    /// How many seconds after its last change a document saves itself; infinity for never. The default is 15. Heeded from the next
    /// change on.
    public final var autosaveDelay: TimeInterval {
        get { standing.withLock { $0.autosaveDelay } }
        set { standing.withLock { $0.autosaveDelay = newValue } }
    }

    /// How many seconds pass between looks whether the file is where it was, each one call of the system; infinity for none. The default
    /// is 1. Heeded from the next opening on.
    public final var fileCheckInterval: TimeInterval {
        get { standing.withLock { $0.fileCheckInterval } }
        set { standing.withLock { $0.fileCheckInterval = newValue } }
    }

    /// Whether the context gets an undo manager when the document is opened and it has none. The default is true.
    public final var hasUndoManager: Bool {
        get { standing.withLock { $0.hasUndoManager } }
        set { standing.withLock { $0.hasUndoManager = newValue } }
    }

    /// The context's. Use it on the context's queue.
    public final var undoManager: UndoManager? {
        get { managedObjectContext.undoManager }
        set { managedObjectContext.undoManager = newValue }
    }

    /// Whether anything is to be saved. Waits for the context's queue where the caller is not on it.
    open var hasUnsavedChanges: Bool { managedObjectContext.performAndWait { managedObjectContext.hasChanges } }

    final func change(_ body: (inout State) -> Void) {
        let isChanged = standing.withLock { standing in
            let before = standing.state
            body(&standing.state)
            return standing.state != before
        }
        if isChanged { NotificationCenter.default.post(name: Self.stateChangedNotification, object: self) }
    }

    // MARK: To be overridden

    /// The type of store for a file.
    /// - Parameter fileType: the extension of the file's name.
    /// - Returns: by default `NSRecordLogStoreType`. Other types are not followed when others move their files.
    open func persistentStoreType(forFileType fileType: String) -> String { NSRecordLogStoreType }

    /// Adds the document's store to the container's coordinator; an override may add more, which are removed when the document is closed.
    /// Called on a thread of the document's.
    /// - Parameters:
    ///   - url: the document's file, which is there already unless the document is being made.
    ///   - fileType: the extension of its name.
    /// - Throws: whatever keeps the document from being opened.
    open func configurePersistentStoreCoordinator(
        for url: URL, ofType fileType: String, modelConfiguration configuration: String?, storeOptions: [String: Any]?
    ) throws {
        try container.persistentStoreCoordinator.addPersistentStore(
            ofType: persistentStoreType(forFileType: fileType), configurationName: configuration, at: url, options: storeOptions)
    }

    /// Told of an error that has no other way to whoever uses the document: of saves that it makes by itself, and of whatever is
    /// called with a completion handler. Does nothing by default.
    open func handleError(_ error: any Error) {}

    /// Told that others have moved the file; the document has gone along, and `fileURL` is the new place. Apple's is
    /// `presentedItemDidMove`.
    open func fileDidMove(to url: URL) {}

    /// Told that the file was removed (`.fileMissing`). Unsaved changes, and all that was saved, are there as long as the document is open.
    open func fileWasRemoved() {}

    /// Told that another file has taken the place of the document's (`.inConflict`): another store, or an older state of this one.
    open func fileWasReplaced() {}
}
