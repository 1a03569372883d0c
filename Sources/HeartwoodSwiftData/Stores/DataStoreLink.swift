import Foundation
import Heartwood

/// The values of a snapshot by property, whatever type the snapshot has.
struct SnapshotParts {
    let identifier: PersistentIdentifier
    let values: [String: Any]
}

/// Which models a fetch wants of a program's store.
struct DataStoreTerms {
    /// The `DescriptorOrigin` of the fetch; nil for all models of the class.
    var origin: AnyObject?
    var hasPredicate = false
    var hasOrder = false
    var limit: Int?
    var offset: Int?
    /// The models with these identifiers alone.
    var identifiers: [PersistentIdentifier]?
    let editingState: EditingState
}

/// A fetch of a context as it was before its translation.
final class DescriptorOrigin<T: PersistentModel>: TranslatedDescriptor {
    let descriptor: FetchDescriptor<T>
    private let translated: NSPredicate?

    /// - Parameter translated: the predicate for managed objects; nil where the context evaluates the descriptor's.
    init(_ descriptor: FetchDescriptor<T>, _ translated: NSPredicate?) {
        self.descriptor = descriptor
        self.translated = translated
    }

    func serves(_ predicate: NSPredicate?, _ type: any PersistentModel.Type) -> Bool {
        type == T.self && (predicate == nil || predicate == translated)
    }
}

protocol TranslatedDescriptor: AnyObject {
    /// Whether the descriptor's own predicate says of the class what a translated one says.
    func serves(_ predicate: NSPredicate?, _ type: any PersistentModel.Type) -> Bool
}

/// The changes of one save, by the identifiers that the store is to see.
struct DataStoreChanges {
    var inserted: [any BackingData] = []
    var updated: [any BackingData] = []
    var deleted: [any BackingData] = []
    var related: [PersistentIdentifier: any BackingData] = [:]
    let editingState: EditingState
}

/// What a save has brought.
struct DataStoreOutcome {
    let remapped: [PersistentIdentifier: PersistentIdentifier]
    /// The snapshots of the inserted and updated models, as they were sent.
    let written: [Result<SnapshotParts, any Error>]
    let reregistered: [SnapshotParts]
}

/// Calls a program's store. The types of a store and its snapshots are known only to `DataStoreLink`.
protocol DataStoreLinking: AnyObject {
    var identifier: String { get }
    var name: String { get }
    var schema: Schema? { get }
    var isBatching: Bool { get }
    var store: any DataStore { get }

    /// - Returns: the models that were found in their order, and related ones.
    func fetch(_ type: any PersistentModel.Type, _ terms: DataStoreTerms) throws -> (found: [SnapshotParts], related: [SnapshotParts])
    func count(_ type: any PersistentModel.Type, _ terms: DataStoreTerms) throws -> Int
    func identifiers(_ type: any PersistentModel.Type, _ terms: DataStoreTerms) throws -> [PersistentIdentifier]
    func cached(_ identifiers: [PersistentIdentifier], _ editingState: EditingState) throws -> [SnapshotParts]
    func save(_ changes: DataStoreChanges) throws -> DataStoreOutcome
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

final class DataStoreLink<Store: DataStore>: DataStoreLinking {
    private let linked: Store

    init(_ store: Store) { linked = store }

    var identifier: String { linked.identifier }
    var name: String { linked.configuration.name }
    var schema: Schema? { linked.configuration.schema }
    var isBatching: Bool { linked is any DataStoreBatching }
    var store: any DataStore { linked }

    // MARK: Reading

    func fetch(_ type: any PersistentModel.Type, _ terms: DataStoreTerms) throws -> (found: [SnapshotParts], related: [SnapshotParts]) {
        try fetchOpened(type, terms)
    }

    private func fetchOpened<T: PersistentModel>(
        _: T.Type, _ terms: DataStoreTerms
    ) throws -> (found: [SnapshotParts], related: [SnapshotParts]) {
        let result = try linked.fetch(Self.request(T.self, terms))
        return (try result.fetchedSnapshots.map { try $0.parts() }, try result.relatedSnapshots.values.map { try $0.parts() })
    }

    func count(_ type: any PersistentModel.Type, _ terms: DataStoreTerms) throws -> Int {
        func count<T: PersistentModel>(_: T.Type) throws -> Int { try linked.fetchCount(Self.request(T.self, terms)) }
        return try count(type)
    }

    func identifiers(_ type: any PersistentModel.Type, _ terms: DataStoreTerms) throws -> [PersistentIdentifier] {
        func identifiers<T: PersistentModel>(_: T.Type) throws -> [PersistentIdentifier] {
            try linked.fetchIdentifiers(Self.request(T.self, terms))
        }
        return try identifiers(type)
    }

    func cached(_ identifiers: [PersistentIdentifier], _ editingState: EditingState) throws -> [SnapshotParts] {
        try linked.cachedSnapshots(for: identifiers, editingState: editingState).values.map { try $0.parts() }
    }

    private static func request<T: PersistentModel>(_: T.Type, _ terms: DataStoreTerms) -> DataStoreFetchRequest<T> {
        var descriptor = (terms.origin as? DescriptorOrigin<T>)?.descriptor ?? FetchDescriptor<T>()
        if !terms.hasPredicate { descriptor.predicate = nil }
        if !terms.hasOrder { descriptor.sortBy = [] }
        descriptor.fetchLimit = terms.limit
        descriptor.fetchOffset = terms.offset
        if let identifiers = terms.identifiers {
            if identifiers.count == 1, let only = identifiers.first {
                descriptor.predicate = #Predicate { $0.persistentModelID == only }
            } else {
                descriptor.predicate = #Predicate { identifiers.contains($0.persistentModelID) }
            }
        }
        return DataStoreFetchRequest(editingState: terms.editingState, descriptor: descriptor)
    }

    // MARK: Writing

    func save(_ changes: DataStoreChanges) throws -> DataStoreOutcome {
        var related = changes.related
        func snapshots(_ list: [any BackingData]) -> [Store.Snapshot] {
            list.map { Store.Snapshot(from: $0, relatedBackingDatas: &related) }
        }
        let request = DataStoreSaveChangesRequest(
            editingState: changes.editingState, inserted: snapshots(changes.inserted), updated: snapshots(changes.updated),
            deleted: snapshots(changes.deleted))
        let result = try linked.save(request)
        return DataStoreOutcome(
            remapped: result.remappedIdentifiers,
            written: (request.inserted + request.updated).map { snapshot in Result { try snapshot.parts() } },
            reregistered: try result.snapshotsToReregister.values.map { try $0.parts() })
    }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        guard let batching = linked as? any DataStoreBatching else { throw DataStoreError.unsupportedFeature }
        try batching.delete(request)
    }
}

extension DataStoreSnapshot {
    fileprivate func parts() throws -> SnapshotParts {
        SnapshotParts(identifier: persistentIdentifier, values: try (self as? DefaultSnapshot)?.values ?? SnapshotReader.values(of: self))
    }
}
