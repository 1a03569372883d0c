import Foundation

/// Source: https://developer.apple.com/documentation/swiftdata/datastorefetchrequest
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    public let editingState: EditingState
    public let descriptor: FetchDescriptor<T>
}

/// Source: https://developer.apple.com/documentation/swiftdata/datastorefetchresult
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    public let descriptor: FetchDescriptor<ModelType>
    public let fetchedSnapshots: [SnapshotType]
    /// Models that relationships of the fetched ones lead to. They need not be fetched when they are read.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    public init(
        descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType], relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
    ) {
        self.descriptor = descriptor
        self.fetchedSnapshots = fetchedSnapshots
        self.relatedSnapshots = relatedSnapshots
    }
}

/// The changes of a context that it saves at once.
///
/// Source: https://developer.apple.com/documentation/swiftdata/datastoresavechangesrequest
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
    public let editingState: EditingState
    /// New models, whose identifiers are temporary. Relationships of any snapshot may lead to them.
    public let inserted: [SnapshotType]
    public let updated: [SnapshotType]
    public let deleted: [SnapshotType]
}

/// Source: https://developer.apple.com/documentation/swiftdata/datastoresavechangesresult
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    public let storeIdentifier: String
    /// The lasting identifiers, by the temporary ones.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// Models that the store has given other values than the context asked for.
    public let snapshotsToReregister: [PersistentIdentifier: T]
    /// The token of the save's transaction, for a store with a history.
    public let historyToken: (any HistoryToken)?

    public convenience init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.init(
            for: storeIdentifier, remappedIdentifiers: remappedIdentifiers, snapshotsToReregister: snapshotsToReregister, historyToken: nil)
    }

    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:], historyToken: (any HistoryToken)?
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
        self.historyToken = historyToken
    }
}

/// Source: https://developer.apple.com/documentation/swiftdata/datastorebatchdeleterequest
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
    public let editingState: EditingState
    /// nil for all models of the class.
    public let predicate: Predicate<T>?
    public let includeSubclasses: Bool
}
