import Foundation
import RecordLog
import Synchronization

/// A store of managed objects that a coordinator has added.
///
/// For a store of your own subclass `NSAtomicStore`, which keeps everything in memory, or `NSIncrementalStore`, which is asked for
/// what is needed, and register the class (`NSPersistentStoreCoordinator.registerStoreClass(_:type:)`). A subclass of this class
/// itself cannot be added: what the stack asks of a store is not public.
///
/// The stack reaches a store through the members below alone: it asks for views (consistent states to read) and hands
/// over save batches. How a store persists is its own affair.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstore
open class NSPersistentStore: NSObject, IdentifyingStore, @unchecked Sendable {
    // Unchecked: what changes after loading is kept by subclasses under locks of their own.

    /// The coordinator that added the store.
    public internal(set) final weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// The model configuration whose entities the store holds; `PF_DEFAULT_CONFIGURATION_NAME`, as in Core Data, for all of them.
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstore/configurationname
    open var configurationName: String { configuration ?? NSManagedObjectModel.defaultConfigurationName }
    /// nil for all entities.
    final let configuration: String?
    /// Where the store is; nil for one that was added without. Setting it moves nothing: `NSPersistentStoreCoordinator.setURL(_:for:)` has a
    /// store go over to another place.
    open var url: URL? {
        get { currentURL.withLock { $0 } }
        set { currentURL.withLock { $0 = newValue } }
    }
    private let currentURL: Mutex<URL?>
    /// The options it was added with.
    open private(set) var options: [AnyHashable: Any]?
    /// Whether saves to this store are refused. The option `NSReadOnlyPersistentStoreOption`, unless a subclass says otherwise.
    open var isReadOnly: Bool
    /// The store's own identity, the host of its objects' URIs: `NSStoreUUIDKey` of its metadata.
    open var identifier: String! = ""
    /// The same, as the IDs of its objects have it.
    var nameOfObjects: StoreIdentifier { StoreIdentifier(identifier ?? "") }
    /// Whether URIs name it so, in capitals or not.
    func isNamed(_ host: String) -> Bool { identifier.lowercased() == host.lowercased() }
    /// Added to a row reference's bits, this makes the key of the object in the coordinator.
    final var slotBase: UInt64 = 0
    private let notes = Mutex(Notes())

    private struct Notes: @unchecked Sendable {
        // Unchecked: property lists, which nobody changes.
        var metadata: [String: Any] = [:]
        /// Whether they were set since they were last written or read.
        var areNew = false
    }

    /// Makes a store that is not open yet. An override calls `super` and reads nothing: what is wrong with the file is for
    /// `loadMetadata()` and `load()` to say, which can throw.
    public init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        persistentStoreCoordinator = root
        configuration = name == NSManagedObjectModel.defaultConfigurationName ? nil : name
        currentURL = Mutex(url.scheme == Self.nowhere.scheme ? nil : url)
        self.options = options
        isReadOnly = options?[NSReadOnlyPersistentStoreOption] as? Bool ?? false
    }

    /// What a coordinator calls of a class that was registered: the class's own initializer. See `NSManagedObject`'s of this form.
    public required convenience init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil, _ _: Void = ()
    ) {
        self.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    /// Stands for no URL.
    static let nowhere = URL(string: "memory:")!

    /// Whether a URL is the system's of nothing, or below it, where Core Data's stores are in memory.
    static func isNowhere(_ url: URL) -> Bool { url.isFileURL && (url.path == "/dev/null" || url.path.hasPrefix("/dev/null/")) }

    /// The type under which the store was registered.
    open var type: String { "" }

    /// What the store says about itself: `NSStoreUUIDKey`, `NSStoreTypeKey`, the entities' version hashes and what the client adds,
    /// as property-list values. The coordinator adds those of its keys that are missing when it adds the store. What is set here is
    /// written with the next save; `NSPersistentStoreCoordinator.setMetadata(_:for:)` says for each kind of store when it is.
    open var metadata: [String: Any]! {
        get { notes.withLock { $0.metadata } }
        set {
            nonisolated(unsafe) let new = newValue ?? [:]
            notes.withLock { ($0.metadata, $0.areNew) = (new, true) }
        }
    }

    /// Whether `metadata` were set since they were last written or read.
    var hasNewMetadata: Bool { notes.withLock { $0.areNew } }

    /// Says that `metadata` are written, or read.
    final func noteMetadataKept() { notes.withLock { $0.areNew = false } }

    /// Called before anything else of the store is read: the place to set `metadata`, and so the store's identity and the version
    /// hashes, which the coordinator compares with its model. The default does nothing.
    /// - Throws: whatever keeps the store from being opened; it is not added then.
    open func loadMetadata() throws {}

    /// Called when the store has been added. The default does nothing.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called when the store is about to be removed; it is asked nothing afterwards. The default does nothing.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// The metadata of the store at `url`, without adding it.
    /// - Throws: where there is no such store, or it cannot be read; 134091 for a class that cannot tell.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CoreDataError.unsupported("\(self) does not tell the metadata of a store that was not added; add it to a coordinator.")
    }

    /// Replaces the client's part of the metadata of the store at `url`, without adding it.
    /// - Throws: where there is no such store, or it cannot be written; nothing is changed then. 134091 for a class that cannot.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CoreDataError.unsupported("\(self) does not set the metadata of a store that was not added; add it to a coordinator.")
    }

    // MARK: What the stack asks

    /// The record log that holds the rows, where there is one: this store, or one in memory that it fills.
    var rows: RecordLogStore? { nil }

    /// Whether inserted objects have their permanent IDs before the store is asked to save them.
    var namesObjects: Bool { false }

    /// Opens the store for the entities of `model`, and makes their runtimes.
    func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        throw CoreDataError.make(
            NSPersistentStoreInvalidTypeError,
            "\(Swift.type(of: self)) cannot be added: a store of your own is a subclass of NSAtomicStore or NSIncrementalStore.")
    }

    /// How many slots the store's entities take, once loaded.
    var slotCount: Int { rows?.slotCount ?? 0 }

    /// The state of the newest commit.
    func newestView() throws -> StoreView {
        guard let rows else { throw CoreDataError.make(NSPersistentStoreOperationError, "The store is not open.") }
        return try rows.newestView()
    }

    /// The same on behalf of a context.
    func newestView(for context: NSManagedObjectContext) throws -> StoreView { try newestView() }

    /// Learns of commits by other processes, where that costs next to nothing.
    /// - Throws: where those are damaged: what the store knows is not the newest then, and may never be. Whatever else keeps the store from
    ///   learning of them is left to the next save to tell of.
    func follow() throws {}

    /// The same where nothing can be thrown; the next fetch throws it.
    final func followOthers() { try? follow() }

    /// Whether `followOthers` would find nothing that `view` does not have; false where that is not told at once.
    func hasNoNews(beyond view: RecordLogView) -> Bool { false }

    /// Writes a batch whole or not at all. On return each inserted object's storage names its permanent key.
    func save(_ batch: SaveBatch) throws {
        preconditionFailure("a store class overrides save")
    }

    /// Inserts, updates or deletes rows of which no context has objects; `outcome` gathers which.
    func execute(_ batch: StoreBatch, origin: TransactionOrigin, outcome: BatchOutcome) throws -> BatchOutcome {
        throw CoreDataError.unsupported(
            "A store of the type \(type) knows no batch requests; fetch the objects, change them and save, or use a record log.")
    }

    /// Takes row numbers for objects that a later save inserts, one for each of them.
    func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        preconditionFailure("a store class overrides reserveRows")
    }

    /// How the URI of an object's ID names it; nil for its row number.
    func name(of key: ObjectKey) -> String? { nil }

    final func currentKey(of id: NSManagedObjectID) -> ObjectKey? { persistentStoreCoordinator?.key(of: id, in: self) }

    /// The key that a URI's name stands for; nil for none.
    func key(named name: String, of runtime: EntityRuntime) -> ObjectKey? {
        guard let row = UInt64(name), row > 0, row < ObjectKey.temporaryBit, String(row) == name else { return nil }
        return ObjectKey(slot: runtime.slot, row: row)
    }

    /// - Throws: 513 for a store that was added read-only.
    final func checkWritable() throws {
        guard isReadOnly else { return }
        var info: [String: Any] = [NSAffectedStoresErrorKey: [self]]
        info[NSFilePathErrorKey] = url?.path
        throw CoreDataError.make(
            CocoaError.Code.fileWriteNoPermission.rawValue, "The store at \(url?.path ?? "?") was added read-only; nothing was saved.", info)
    }

    /// Writes metadata that were set since the last save, where a save changes no object of the store.
    final func saveMetadata() throws {
        guard hasNewMetadata else { return }
        try checkWritable()
        try writeMetadata()
        noteMetadataKept()
    }

    /// Writes `metadata` alone.
    func writeMetadata() throws {}

    /// Replaces the client's part of the metadata.
    func setMetadata(_ metadata: [String: Any]) throws {
        self.metadata = RecordLogMetadata.keepingOwn(self.metadata, in: metadata)
    }

    /// Lets go of the store's file. Views that are still held stay readable.
    func unload() throws { try rows?.unload() }

    // MARK: Files

    class func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] { try metadataForPersistentStore(with: url) }

    class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// Removes the store's file; does nothing where there is none.
    class func destroy(at url: URL, options: [AnyHashable: Any]?) throws { try StoreFiles.removeFile(at: url) }

    /// Removes what is in the store; whether a file stays that opens as a new one is the class's affair.
    class func empty(at url: URL, options: [AnyHashable: Any]?) throws { try destroy(at: url, options: options) }

    /// - Throws: where others use the file of this store, which is about to be removed from its coordinator and destroyed.
    func checkDestruction(at url: URL, options: [AnyHashable: Any]?) throws {}

    /// Brings the store at `url` to another version of its model in its own file, at once or not at all: objects keep their IDs.
    /// - Parameter comparison: from the model that the store was made with to the new one.
    /// - Returns: false where stores of this class have no such way, and nothing has happened.
    /// - Throws: 134110 where what is in the store does not suit the new model (with `reason`, `entity` and `property`), 134111 where objects
    ///   are not as unique as it wants them. The store is as it was then.
    class func migrateInPlace(
        at url: URL, options: [AnyHashable: Any]?, configuration: String?, to model: NSManagedObjectModel, _ comparison: ModelComparison
    ) throws -> Bool { false }

    /// Puts a copy of the store at `source` in the place of whatever is at `url`, at once or not at all.
    class func replace(
        at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws {
        _ = try metadata(at: source, options: sourceOptions)
        try StoreFiles.replaceFile(at: url, with: source)
    }

    /// Goes over to the same store's file at another place.
    /// - Throws: where it is another store, or this one cannot; it stays where it was then.
    func relocate(to url: URL) throws {
        throw CoreDataError.make(NSPersistentStoreOperationError, "A store of the type \(type) cannot be moved while it is loaded.")
    }

    /// The model that the store at `url` was made with, where it carries one.
    class func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? { nil }

    /// Runs `body` while nobody else changes the store at `url`, as far as its type has a way to see to that, and puts the file that `body` has
    /// made in the place of the store's, at once.
    /// - Parameter body: gives the new file, beside the store's; nil for none.
    /// - Throws: what `body` throws; where others have the store open for writing. The store is as it was then.
    class func exchange(at url: URL, options: [AnyHashable: Any]?, _ body: () throws -> URL?) throws {
        try StoreFiles.checkIsFile(url, "it was not replaced")
        guard let made = try body() else { return }
        try LogStore.rename(made.path, to: url.resolvingSymlinksInPath().path, replacing: true)
    }

    /// Whether saves are seen in this process alone, since what is written whole is written once all is there.
    final var putsOffWriting = false

    /// Takes over what another store says of itself, its identity too, and writes what saves have put off. Version and type stay.
    func takeOver(_ metadata: [String: Any]) throws {
        self.metadata = RecordLogMetadata.ofSuccessor(self.metadata ?? [:], to: metadata)
        try save(SaveBatch(origin: .none) { _ in nil })
    }

    final func setPlace(_ url: URL) {
        currentURL.withLock { $0 = url }
    }
}
