import Foundation

/// A store of the program's own below a container.
///
/// The program's store answers with snapshots of models, and gets snapshots to save. Contexts add identity, pending changes, faults, delete rules
/// and uniqueness, as they do over the default store.
/// Source: https://developer.apple.com/documentation/swiftdata/datastore
public protocol DataStore: AnyObject {
    associatedtype Configuration: DataStoreConfiguration where Self == Configuration.Store
    associatedtype Snapshot: DataStoreSnapshot

    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Names the store. Identifiers of its models contain it.
    var identifier: String { get }
    var schema: Schema { get }
    var configuration: Configuration { get }

    /// Returns the models of a class, subclasses included, that the descriptor chooses.
    /// - Throws: `DataStoreError.preferInMemoryFilter` or `.preferInMemorySort`: the context asks for all models then, and does the rest itself. Any
    ///   other error reaches the caller of the context.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Saves all changes, or none.
    /// - Returns: an identifier for each inserted snapshot, whose own is temporary.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// Deletes all models.
    func erase() throws

    /// Called when a context begins to use the store.
    func initializeState(for editingState: EditingState)
    /// Called when a context ends.
    func invalidateState(for editingState: EditingState)
    /// Returns snapshots that the store has at hand, for models that a context reads by their identifiers. The context fetches the others.
    func cachedSnapshots(for identifiers: [PersistentIdentifier], editingState: EditingState) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int { try fetch(request).fetchedSnapshots.count }

    public func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier] {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }

    /// - Throws: `DataStoreError.unsupportedFeature`. A container then deletes the models one by one.
    public func erase() throws { throw DataStoreError.unsupportedFeature }

    public func initializeState(for editingState: EditingState) {}
    public func invalidateState(for editingState: EditingState) {}

    public func cachedSnapshots(
        for identifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A store that deletes the models of a class without reading them.
///
/// Source: https://developer.apple.com/documentation/swiftdata/datastorebatching
public protocol DataStoreBatching: DataStore {
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

/// Chooses a store and says what it needs to open.
///
/// Source: https://developer.apple.com/documentation/swiftdata/datastoreconfiguration
public protocol DataStoreConfiguration<Store>: Hashable {
    associatedtype Store: DataStore where Self == Store.Configuration

    var name: String { get }
    /// nil for the whole schema of the container, which sets it then.
    var schema: Schema? { get set }
    /// - Throws: an error that keeps the container from being made.
    func validate() throws
}

extension DataStoreConfiguration {
    public func validate() throws {}
}

/// What a store asks the context to do in its place, or refuses.
///
/// Source: https://developer.apple.com/documentation/swiftdata/datastoreerror
public enum DataStoreError: Error, Hashable {
    case unsupportedFeature
    /// The context fetches all models, and judges the predicate in memory.
    case preferInMemoryFilter
    /// The context sorts in memory.
    case preferInMemorySort
    case invalidPredicate
}

/// Identifies an editor of models, such as a context, to a store.
///
/// Source: https://developer.apple.com/documentation/swiftdata/editingstate
public struct EditingState: Identifiable, Sendable {
    public let id: UUID
    public var author: String?

    init() { id = UUID() }
}
