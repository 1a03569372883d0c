import Foundation
import RecordLog
import Synchronization

/// A store of managed objects that a coordinator has added.
///
/// To write your own store class, subclass `NSAtomicStore`, which keeps all objects in memory, or `NSIncrementalStore`, which reads what
/// the stack asks for, and register the class (`NSPersistentStoreCoordinator.registerStoreClass(_:type:)`). A direct subclass of this class
/// cannot be added, because the stack's interface to stores is not public.
///
/// The stack uses only the members below: it asks for views (consistent states to read) and hands over save batches. The store decides how
/// to persist them.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstore
open class NSPersistentStore: NSObject, IdentifyingStore, @unchecked Sendable {
    // Unchecked: subclasses guard state that changes after loading with their own locks.

    /// The coordinator that added the store.
    public internal(set) final weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// The model configuration whose entities the store holds; `PF_DEFAULT_CONFIGURATION_NAME`, as in Core Data, for all of them.
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstore/configurationname
    open var configurationName: String { configuration ?? NSManagedObjectModel.defaultConfigurationName }
    /// nil for all entities.
    final let configuration: String?
    /// The store's location; nil if it was added without one. Setting it moves nothing: `NSPersistentStoreCoordinator.setURL(_:for:)`
    /// switches the store to another file.
    open var url: URL? {
        get { currentURL.withLock { $0 } }
        set { currentURL.withLock { $0 = newValue } }
    }
    private let currentURL: Mutex<URL?>
    /// The options with which the store was added.
    open private(set) var options: [AnyHashable: Any]?
    /// Whether saves to this store are refused. Initially the value of `NSReadOnlyPersistentStoreOption`.
    open var isReadOnly: Bool
    /// Whether the options name a commit of the past (`NSRecordLogAsOfOption`).
    final var showsPast: Bool { Self.showsPast(options) }
    /// The store's identity, which is the host of its objects' URIs: `NSStoreUUIDKey` of its metadata.
    open var identifier: String! = ""
    /// The identifier in the form that the IDs of the store's objects use.
    var nameOfObjects: StoreIdentifier { StoreIdentifier(identifier ?? "") }
    /// Whether URIs with this host name the store; case is ignored.
    func isNamed(_ host: String) -> Bool { identifier.lowercased() == host.lowercased() }
    /// The bits to add to a row reference to get the object's key in the coordinator.
    final var slotBase: UInt64 = 0
    private let notes = Mutex(Notes())

    private struct Notes: @unchecked Sendable {
        // Unchecked: property lists that do not change.
        var metadata: [String: Any] = [:]
        /// Reads the metadata; nil once they are read or set.
        var reading: (() -> [String: Any])?
        /// Whether the metadata were set since they were last written or read.
        var areNew = false

        mutating func read() {
            if let reading { metadata = reading() }
            reading = nil
        }
    }

    /// Makes a store that is not open yet. An override calls `super` and does not read the file: `loadMetadata()` and `load()` do, because
    /// they can throw.
    public init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        persistentStoreCoordinator = root
        configuration = name == NSManagedObjectModel.defaultConfigurationName ? nil : name
        currentURL = Mutex(url.scheme == Self.nowhere.scheme ? nil : url)
        self.options = options
        isReadOnly = Self.flag(NSReadOnlyPersistentStoreOption, in: options) ?? false
    }

    /// The initializer that a coordinator calls for a registered class; it calls the class's own initializer. See `NSManagedObject`'s
    /// initializer of this form.
    public required convenience init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil, _ _: Void = ()
    ) {
        self.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    /// Represents the absence of a URL.
    static let nowhere = URL(string: "memory:")!

    /// Whether a URL is `/dev/null` or below it, where Core Data's stores are in memory.
    static func isNowhere(_ url: URL) -> Bool {
        guard url.isFileURL, url.path.contains("null") else { return false }
        let path = url.standardizedFileURL.path
        return path == "/dev/null" || path.hasPrefix("/dev/null/")
    }

    /// The type with which the store class was registered.
    open var type: String { "" }

    /// The store's metadata: `NSStoreUUIDKey`, `NSStoreTypeKey`, the entities' version hashes, and the client's keys, all property-list
    /// values. When the coordinator adds the store, it sets those of its own keys that are missing. The next save writes values set here;
    /// `NSPersistentStoreCoordinator.setMetadata(_:for:)` describes when each kind of store writes them.
    open var metadata: [String: Any]! {
        get {
            notes.withLock { notes in
                notes.read()
                return notes
            }.metadata
        }
        set {
            nonisolated(unsafe) let new = newValue ?? [:]
            notes.withLock { ($0.metadata, $0.reading, $0.areNew) = (new, nil, true) }
        }
    }

    /// Takes over the metadata of the store's file, which are read at the first access.
    final func keepMetadata(_ reading: @escaping () -> [String: Any]) {
        nonisolated(unsafe) let reading = reading
        notes.withLock { ($0.reading, $0.areNew) = (reading, false) }
    }

    /// Whether `metadata` was set since it was last written or read.
    var hasNewMetadata: Bool { notes.withLock { $0.areNew } }

    /// Records that `metadata` was written or read.
    final func noteMetadataKept() { notes.withLock { $0.areNew = false } }

    /// Reads the store's metadata, before anything else of the store is read. An override sets `metadata`, and with it the store's identity
    /// and the version hashes that the coordinator compares with its model. The default does nothing.
    /// - Throws: an error that keeps the store from being opened; it is then not added.
    open func loadMetadata() throws {}

    /// Called after the store was added. The default does nothing.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed; the stack does not use it afterwards. The default does nothing.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// Returns the metadata of the store at `url` without adding it.
    /// - Throws: if the store does not exist or cannot be read; 134091 for a class that does not support this.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CoreDataError.unsupported("\(self) cannot read the metadata of a store that is not added; add the store to a coordinator.")
    }

    /// Replaces the client's part of the metadata of the store at `url` without adding it.
    /// - Throws: if the store does not exist or cannot be written; nothing has changed then. 134091 for a class that does not support this.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CoreDataError.unsupported("\(self) cannot set the metadata of a store that is not added; add the store to a coordinator.")
    }

    // MARK: The stack's interface to a store

    /// The record log that holds the rows: this store, or a record log in memory that it fills; nil if there is none.
    var rows: RecordLogStore? { nil }

    /// Whether inserted objects have their permanent IDs before the store saves them.
    var namesObjects: Bool { false }

    /// Opens the store for the entities of `model` and makes their runtimes.
    func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        throw isOfNoKind
    }

    /// The error for a direct subclass of this class.
    private var isOfNoKind: NSError {
        CoreDataError.make(
            NSPersistentStoreInvalidTypeError,
            "\(Swift.type(of: self)) cannot be added: a store of your own is a subclass of NSAtomicStore or NSIncrementalStore.")
    }

    /// The number of slots that the store's entities take, once it is loaded.
    var slotCount: Int { rows?.slotCount ?? 0 }

    /// Returns the state of the newest commit.
    func newestView() throws -> any StoreView {
        guard let rows else { throw CoreDataError.make(NSPersistentStoreOperationError, "The store is not open.") }
        return try rows.newestView()
    }

    /// Returns the state of the newest commit for a context.
    func newestView(for context: NSManagedObjectContext) throws -> any StoreView { try newestView() }

    /// Reads other processes' commits, if that is cheap.
    /// - Throws: if those commits are damaged; the known state is then not the newest, and may never be. The next save reports any other
    ///   failure.
    func follow() throws {}

    /// Follows other processes without throwing; the next fetch throws the error.
    final func followOthers() { try? follow() }

    /// Whether `followOthers` would find nothing newer than `view`; false if that cannot be decided at once.
    func hasNoCommits(beyond view: RecordLogView) -> Bool { false }

    /// The history as of the newest commit; nil if the store has none.
    func newestHistory() throws -> (any StoreHistory)? { nil }

    /// Writes a batch atomically. On return the storage of each inserted object has its permanent key.
    func save(_ batch: SaveBatch) throws { throw isOfNoKind }

    /// Inserts, updates or deletes rows without objects in a context; `outcome` collects the affected rows.
    func execute(_ batch: StoreBatch, origin: TransactionOrigin, outcome: BatchOutcome) throws -> BatchOutcome {
        throw CoreDataError.unsupported(
            "A store of the type \(type) knows no batch requests; fetch the objects, change them and save, or use a record log.")
    }

    /// Reserves a row number for each of these objects, which a later save inserts.
    func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] { throw isOfNoKind }

    /// The name of an object in the URI of its ID; nil for its row number.
    func name(of key: ObjectKey) -> String? { nil }

    final func currentKey(of id: NSManagedObjectID) -> ObjectKey? { persistentStoreCoordinator?.key(of: id, in: self) }

    /// The key for a name in a URI; nil if there is none.
    func key(named name: String, of runtime: EntityRuntime) -> ObjectKey? {
        guard let row = UInt64(name), row > 0, row < ObjectKey.temporaryBit, String(row) == name else { return nil }
        return ObjectKey(slot: runtime.slot, row: row)
    }

    /// - Throws: 513 for a store that was added read-only, or can only be read.
    func checkWritable() throws {
        guard isReadOnly else { return }
        var info: [String: Any] = [NSAffectedStoresErrorKey: [self]]
        info[NSFilePathErrorKey] = url?.path
        let why = showsPast
            ? "is open as of its commit \(commitNumber ?? 0), and the past does not change; nothing was saved. Add it without "
                + "NSRecordLogAsOfOption to a coordinator of its own, and save there."
            : "was added read-only; nothing was saved."
        throw CoreDataError.make(CocoaError.Code.fileWriteNoPermission.rawValue, "The store at \(url?.path ?? "?") \(why)", info)
    }

    /// Writes metadata that were set since the last save, when a save changes no object of the store.
    final func saveMetadata() throws {
        guard hasNewMetadata else { return }
        try checkWritable()
        try writeMetadata()
        noteMetadataKept()
    }

    /// Writes only `metadata`.
    func writeMetadata() throws {}

    /// Replaces the client's part of the metadata.
    func setMetadata(_ metadata: [String: Any]) throws {
        self.metadata = RecordLogMetadata.keepingOwn(self.metadata, in: metadata)
    }

    /// Closes the store's file. Views that are still held stay readable.
    func unload() throws { try rows?.unload() }

    // MARK: Files

    class func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] { try metadataForPersistentStore(with: url) }

    class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// Removes the store's file; does nothing if there is none.
    class func destroy(at url: URL, options: [AnyHashable: Any]?) throws { try StoreFiles.removeFile(at: url) }

    /// Removes the store's contents. The class decides whether a file remains that opens as a new store.
    class func empty(at url: URL, options: [AnyHashable: Any]?) throws { try destroy(at: url, options: options) }

    /// Checks whether this store's file may be destroyed; the store is then removed from its coordinator.
    /// - Throws: if other handles or processes use the file.
    func checkDestruction(at url: URL, options: [AnyHashable: Any]?) throws {}

    /// Migrates the store at `url` to another version of its model in its own file, atomically; objects keep their IDs.
    /// - Parameters:
    ///   - comparison: from the store's model to the new one.
    ///   - dropping: applied to the objects whose entities the new model lacks.
    /// - Returns: false if stores of this class cannot do that; nothing has happened then.
    /// - Throws: 134110 if the store's contents do not fit the new model (with `reason`, `entity` and `property`), 134111 if they violate
    ///   its uniqueness constraints. The store is then unchanged.
    class func migrateInPlace(
        at url: URL, options: [AnyHashable: Any]?, configuration: String?, to model: NSManagedObjectModel, _ comparison: ModelComparison,
        _ dropping: DroppingRule
    ) throws -> Bool { false }

    /// Replaces the store at `url` by a copy of the store at `source`, atomically.
    class func replace(
        at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws {
        _ = try metadata(at: source, options: sourceOptions)
        try StoreFiles.replaceFile(at: url, with: source)
    }

    /// Switches to another file of the same store.
    /// - Throws: if the file is another store's, or the class cannot switch; the store then keeps its file.
    func relocate(to url: URL) throws {
        throw CoreDataError.make(NSPersistentStoreOperationError, "A store of the type \(type) cannot be moved while it is loaded.")
    }

    /// The model with which the store at `url` was made, if the file has it.
    class func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? { nil }

    /// Runs `body` while no other handle or process changes the store at `url`, as far as its type can prevent that, and atomically
    /// replaces the store's file by the file that `body` has made.
    /// - Parameter body: makes the new file beside the store's and returns its URL; nil for none.
    /// - Throws: the error that `body` throws; an error if the store is open for writing elsewhere. The store is then unchanged.
    class func exchange(at url: URL, options: [AnyHashable: Any]?, _ body: () throws -> URL?) throws {
        try StoreFiles.checkIsFile(url, "it was not replaced")
        guard let made = try body() else { return }
        try LogStore.rename(made.path, to: url.resolvingSymlinksInPath().path, replacing: true)
    }

    /// Whether saves are visible only in this process, because a store that is written as a whole is written later.
    final var putsOffWriting = false

    /// Takes over another store's metadata, including its identity, and writes deferred saves. Version and type stay.
    func takeOver(_ metadata: [String: Any]) throws {
        self.metadata = RecordLogMetadata.ofSuccessor(self.metadata ?? [:], to: metadata)
        try save(SaveBatch(origin: .none) { _ in nil })
    }

    final func setURL(_ url: URL) {
        currentURL.withLock { $0 = url }
    }
}
