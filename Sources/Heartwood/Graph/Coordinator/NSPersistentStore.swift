import Foundation
import RecordLog
import Synchronization

/// A store of managed objects that a coordinator has added.
///
/// To write your own store class, subclass `NSAtomicStore`, which keeps all objects in memory, or `NSIncrementalStore`, which reads what
/// the stack asks for, and register the class (`NSPersistentStoreCoordinator.registerStoreClass(_:type:)`). A direct subclass of this class
/// cannot be added, because the stack's interface to stores (`GraphStore`) is not public.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstore
open class NSPersistentStore: NSObject, IdentifyingStore, @unchecked Sendable {
    // Unchecked: subclasses guard state that changes after loading with their own locks.

    /// The coordinator that added the store.
    public internal(set) final weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// The model configuration whose entities the store holds; `PF_DEFAULT_CONFIGURATION_NAME`, as in Core Data, for all of them.
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstore/configurationname
    open var configurationName: String { configuration ?? NSManagedObjectModel.defaultConfigurationName }
    /// nil for all entities.
    package final let configuration: String?
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
    package var nameOfObjects: StoreIdentifier { StoreIdentifier(identifier ?? "") }
    /// Whether URIs with this host name the store; case is ignored.
    func isNamed(_ host: String) -> Bool { identifier.lowercased() == host.lowercased() }
    /// The bits to add to a row reference to get the object's key in the coordinator.
    package final var slotBase: UInt64 = 0
    package final let serialNumber = made.wrappingAdd(1, ordering: .relaxed).newValue
    private static let made = Atomic<UInt64>(0)
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
    package final func keepMetadata(_ reading: @escaping () -> [String: Any]) {
        nonisolated(unsafe) let reading = reading
        notes.withLock { ($0.reading, $0.areNew) = (reading, false) }
    }

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

    /// The store as the stack uses it. A class of this module overrides this; one of another module only conforms, and is cast once.
    package var seam: any GraphStore { servedSeam() }

    private unowned(unsafe) final var served: (any GraphStore)?

    private func servedSeam() -> any GraphStore {
        if let served { return served }
        guard let found = self as? any GraphStore else { return StoreOfNoKind.of(self) }
        served = found
        return found
    }

    /// The traits that the store had when it was added.
    package internal(set) final var traits: StoreTraits = []

    /// The record log that holds the rows: this store, or a record log in memory that it fills; nil if there is none.
    // Not package: subclasses in this package's tests have members of this name.
    var rows: RecordLogStore? { backing }
    package final var logOfRows: RecordLogStore? { rows }

    /// A record log in memory that holds the rows of a store which reads and writes them in a form of its own. The store sets it when it loads.
    package final var backing: BackingLog?

    /// This store, if it is a record log itself; nil for a store that keeps its rows in one.
    package final var ownLog: RecordLogStore? { rows.flatMap { $0 === self ? $0 : nil } }

    /// The names of the objects, in a store that names them otherwise than by row numbers. The store sets it when it loads. New objects
    /// get their permanent IDs before the store saves them.
    package final var names: ReferenceTable?

    package final func name(of key: ObjectKey) -> String? { names?.name(of: key) }

    package final func currentKey(of id: NSManagedObjectID) -> ObjectKey? { persistentStoreCoordinator?.key(of: id, in: self) }

    /// Whether `metadata` was set since it was last written or read.
    package final var hasSetMetadata: Bool { notes.withLock { $0.areNew } }

    /// Records that `metadata` was written or read.
    package final func noteMetadataKept() { notes.withLock { $0.areNew = false } }

    /// Follows other processes without throwing; the next fetch throws the error.
    final func followOthers() { try? seam.follow() }

    /// Writes metadata that were set since the last save, when a save changes no object of the store.
    final func saveMetadata() throws {
        let seam = seam
        guard seam.hasNewMetadata else { return }
        try seam.checkWritable()
        try seam.writeMetadata()
        noteMetadataKept()
    }

    /// - Throws: 513 for a store that was added read-only.
    package final func checkIsWritable() throws {
        guard isReadOnly else { return }
        var info: [String: Any] = [NSAffectedStoresErrorKey: [self]]
        info[NSFilePathErrorKey] = url?.path
        let why = showsPast
            ? "is open as of its commit \(commitNumber ?? 0), and the past does not change; nothing was saved. Add it without "
                + "NSRecordLogAsOfOption to a coordinator of its own, and save there."
            : "was added read-only; nothing was saved."
        throw CoreDataError.make(CocoaError.Code.fileWriteNoPermission.rawValue, "The store at \(url?.path ?? "?") \(why)", info)
    }

    /// Whether saves are visible only in this process, because a store that is written as a whole is written later.
    final var putsOffWriting = false

    package final func setURL(_ url: URL) {
        currentURL.withLock { $0 = url }
    }
}

/// Stands for a store of a class that the stack cannot use.
private final class StoreOfNoKind: NSPersistentStore, GraphStore, @unchecked Sendable {
    private var representedClass: NSPersistentStore.Type = NSPersistentStore.self

    static func of(_ store: NSPersistentStore) -> StoreOfNoKind {
        let made = StoreOfNoKind(persistentStoreCoordinator: nil, configurationName: nil, at: NSPersistentStore.nowhere)
        made.representedClass = Swift.type(of: store)
        return made
    }

    override var seam: any GraphStore { self }

    func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] { throw StoreAbility.none(of: representedClass) }

    func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        throw StoreAbility.none(of: representedClass)
    }

    func save(_ batch: SaveBatch) throws { throw StoreAbility.none(of: representedClass) }
}

extension NSManagedObjectID {
    /// The store that holds the object; nil for a temporary ID, and after the store was removed.
    public final var persistentStore: NSPersistentStore? { holder.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
}

extension NSPersistentStoreRequest {
    /// The stores in which the request is executed; nil for all.
    public final var affectedStores: [NSPersistentStore]? {
        get { storesToAsk?.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
        set { storesToAsk = newValue }
    }
}
