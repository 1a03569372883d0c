import Foundation
import RecordLog

/// A store as the stack uses it. A subclass of `NSPersistentStore` conforms, in this module or in another one of the package.
///
/// A store opens its entities, shows states of its rows and writes batches. What else it can do, it says by the optional stores below
/// and by its traits. The stack casts to no store's class.
package protocol GraphStore: NSPersistentStore {
    // MARK: Opening

    /// Opens the store for the entities of `model`, sets `slotBase`, and makes the runtimes of the entities.
    func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime]

    /// The number of slots that the store's entities take, once it is loaded.
    var slotCount: Int { get }

    /// Closes the store. Views that are still held stay readable.
    func unload() throws

    /// Switches to another file of the same store.
    /// - Throws: if the file is another store's, or the class cannot switch; the store then keeps its file.
    func relocate(to url: URL) throws

    /// Checks whether this store's file may be destroyed; the store is then removed from its coordinator.
    /// - Throws: if other handles or processes use the file.
    func checkDestruction(at url: URL, options: [AnyHashable: Any]?) throws

    // MARK: Reading

    /// The properties of the store that decide how contexts read it. The coordinator asks once, after loading.
    var traitsOfRows: StoreTraits { get }

    /// Returns the state of the newest commit.
    func newestView() throws -> any StoreView

    /// Returns the state of the newest commit for a context.
    func newestView(for context: NSManagedObjectContext) throws -> any StoreView

    /// Returns the state of the newest commit in a form that stays readable as it was, for a store with the trait `keepsStates`.
    func pinnedView() throws -> any StoreView

    /// Learns of the commits of others from now on, if the options or an observer of commits ask for that.
    func watchIfNeeded()

    /// Reads other processes' commits, if that is cheap.
    /// - Throws: if those commits are damaged; the known state is then not the newest, and may never be. The next save reports any other
    ///   failure.
    func follow() throws

    /// The key for the name of an object in a URI; nil if there is none.
    func key(named name: String, of runtime: EntityRuntime) -> ObjectKey?

    // MARK: Writing

    /// - Throws: 513 for a store that was added read-only, or can only be read.
    func checkWritable() throws

    /// Reserves a row number for each of these objects, which a later save inserts.
    func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey]

    /// Writes a batch atomically. On return the storage of each inserted object has its permanent key.
    func save(_ batch: SaveBatch) throws

    /// The record log that commits together with other stores' logs, all or none; nil for a store that saves by itself.
    var joinedLog: RecordLogStore? { get }

    /// nil for a store that is a record log, or that saves by itself.
    var joiningStore: (any JoiningStore)? { get }

    // MARK: Metadata

    /// Whether `metadata` was set since it was last written or read.
    var hasNewMetadata: Bool { get }

    /// Writes only `metadata`.
    func writeMetadata() throws

    /// Replaces the client's part of the metadata.
    func setMetadata(_ metadata: [String: Any]) throws

    /// Takes over another store's metadata, including its identity, and writes deferred saves. Version and type stay.
    func takeOver(_ metadata: [String: Any]) throws

    // MARK: What only some stores can do

    /// nil for a store that knows no batch requests.
    var batchStore: (any BatchStore)? { get }

    /// nil for a store that has no history.
    var historyStore: (any HistoryStore)? { get }

    /// nil for a store that need not know which objects contexts have.
    var registrationStore: (any RegistrationStore)? { get }

    /// nil for a store whose contents move as objects only.
    var transferStore: (any TransferStore)? { get }
}

/// The defaults: a store that is one file, or keeps its rows in a record log in memory.
extension GraphStore {
    package var slotCount: Int { rows?.slotCount ?? 0 }

    package func unload() throws { try rows?.unload() }

    package func relocate(to url: URL) throws { throw StoreAbility.changingFiles.missing(in: self) }

    package func checkDestruction(at url: URL, options: [AnyHashable: Any]?) throws {}

    package var traitsOfRows: StoreTraits { rows == nil ? [] : .ofLog }

    package func newestView() throws -> any StoreView {
        guard let rows else { throw CoreDataError.make(NSPersistentStoreOperationError, "The store is not open.") }
        return try rows.newestView()
    }

    package func newestView(for context: NSManagedObjectContext) throws -> any StoreView { try newestView() }

    package func pinnedView() throws -> any StoreView { try newestView() }

    package func watchIfNeeded() {}

    package func follow() throws {}

    package func key(named name: String, of runtime: EntityRuntime) -> ObjectKey? {
        names == nil
            ? ObjectKey(numbered: name, of: runtime)
            : names?.row(named: name, slot: runtime.slot).map { ObjectKey(slot: runtime.slot, row: $0) }
    }

    package func checkWritable() throws { try checkIsWritable() }

    package func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        throw StoreAbility.givingIDsEarly.missing(in: self)
    }

    package var joinedLog: RecordLogStore? { nil }

    package var joiningStore: (any JoiningStore)? { nil }

    package var hasNewMetadata: Bool { hasSetMetadata }

    package func writeMetadata() throws {}

    package func setMetadata(_ metadata: [String: Any]) throws {
        self.metadata = RecordLogMetadata.keepingOwn(self.metadata, in: metadata)
    }

    package func takeOver(_ metadata: [String: Any]) throws {
        self.metadata = RecordLogMetadata.ofSuccessor(self.metadata ?? [:], to: metadata)
        try save(SaveBatch(origin: .none) { _ in nil })
    }

    package var batchStore: (any BatchStore)? { nil }

    package var historyStore: (any HistoryStore)? { nil }

    package var registrationStore: (any RegistrationStore)? { nil }

    package var transferStore: (any TransferStore)? { nil }
}

extension ObjectKey {
    /// The key of an object whose name is its row number.
    package init?(numbered name: String, of runtime: EntityRuntime) {
        guard let row = UInt64(name), row > 0, row < ObjectKey.temporaryBit, String(row) == name else { return nil }
        self.init(slot: runtime.slot, row: row)
    }
}

/// A store that changes rows without objects.
package protocol BatchStore: NSPersistentStore {
    /// Inserts, updates or deletes rows without objects in a context; `outcome` collects the affected rows.
    func execute(_ batch: StoreBatch, origin: TransactionOrigin, outcome: BatchOutcome) throws -> BatchOutcome
}

/// A store that is told which of its objects contexts have, and keeps the values that were saved as their rows.
package protocol RegistrationStore: NSPersistentStore {
    func noteRegistered(_ keys: [ObjectKey])
    func noteUnregistered(_ keys: [ObjectKey])
}

/// The properties of a store that decide how contexts read its rows.
package struct StoreTraits: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The store says whether it has newer commits, so a context keeps its view until then. Without it each fetch asks for the current state.
    package static let tellsOfCommits = StoreTraits(rawValue: 1)
    /// A row can be read again at no cost, to compare its version.
    package static let rereadsRows = StoreTraits(rawValue: 2)
    /// A view stays readable as it was, so that a query generation can name it.
    package static let keepsStates = StoreTraits(rawValue: 4)
    /// Rows lie in files that a compaction may replace while contexts point into them.
    package static let replacesFiles = StoreTraits(rawValue: 8)
    /// The store reports how it finds rows.
    package static let explainsPlans = StoreTraits(rawValue: 16)
    /// The store reports what it asks its server, and the server's plan.
    package static let explainsStatements = StoreTraits(rawValue: 32)

    /// Of record logs, in files or in memory.
    package static let ofLog: StoreTraits = [.tellsOfCommits, .rereadsRows, .keepsStates, .replacesFiles, .explainsPlans]
}
