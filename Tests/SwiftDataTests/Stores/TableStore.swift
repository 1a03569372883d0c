import Foundation
import HeartwoodSwiftData
import Synchronization

/// A store of numbered records in memory with a snapshot type of its own, which finds models by identifier and deletes batches.
final class TableStore: DataStore, DataStoreBatching {
    /// The snapshot of an item or a lamp.
    struct Record: DataStoreSnapshot, Equatable {
        var persistentIdentifier: PersistentIdentifier
        var name: String
        var watts: Int?

        init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
            func item<Data: BackingData>(_ data: Data) -> (name: String, watts: Int?) {
                let model = Data.Model(backingData: data)
                return ((model as? ShelfItem)?.name ?? "", (model as? ShelfLamp)?.watts)
            }
            (name, watts) = item(backingData)
            persistentIdentifier = backingData.persistentModelID ?? ShelfItem(name: "").persistentModelID
        }

        func copy(persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?) -> Record {
            var copy = self
            copy.persistentIdentifier = persistentIdentifier
            return copy
        }
    }

    struct Configuration: DataStoreConfiguration {
        typealias Store = TableStore

        let name: String
        var schema: Schema?
        let table = Table()

        static func == (a: Configuration, b: Configuration) -> Bool { a.name == b.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    final class Table {
        var records: [PersistentIdentifier: Record] = [:]
        var next = 1
        var cachedAsked = 0
        var batches = 0
        var fetches = 0
    }

    let configuration: Configuration
    let schema: Schema
    let identifier = "Table store"

    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
    }

    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Record> {
        configuration.table.fetches += 1
        guard request.descriptor.predicate == nil else { throw DataStoreError.preferInMemoryFilter }
        guard request.descriptor.sortBy.isEmpty else { throw DataStoreError.preferInMemorySort }
        let found = configuration.table.records.values.filter { T.self == ShelfItem.self || $0.watts != nil }
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: Array(found))
    }

    func save(_ request: DataStoreSaveChangesRequest<Record>) throws -> DataStoreSaveChangesResult<Record> {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for record in request.inserted {
            let identifier = try PersistentIdentifier.identifier(
                for: identifier, entityName: record.persistentIdentifier.entityName, primaryKey: configuration.table.next)
            configuration.table.next += 1
            remapped[record.persistentIdentifier] = identifier
            configuration.table.records[identifier] = record.copy(persistentIdentifier: identifier, remappedIdentifiers: nil)
        }
        for record in request.updated { configuration.table.records[record.persistentIdentifier] = record }
        for record in request.deleted { configuration.table.records[record.persistentIdentifier] = nil }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
    }

    func cachedSnapshots(for identifiers: [PersistentIdentifier], editingState: EditingState) throws -> [PersistentIdentifier: Record] {
        configuration.table.cachedAsked += 1
        return configuration.table.records.filter { identifiers.contains($0.key) }
    }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        configuration.table.batches += 1
        guard request.predicate == nil else { throw DataStoreError.unsupportedFeature }
        configuration.table.records = configuration.table.records.filter { T.self == ShelfLamp.self && $0.value.watts == nil }
    }
}
