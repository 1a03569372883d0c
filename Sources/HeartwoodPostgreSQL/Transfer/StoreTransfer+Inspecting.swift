import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// The parts of a store in a database, with their sizes.
package struct DatabaseInspection: Sendable {
    package struct Table: Sendable {
        package let name: String
        package let rows: Int
        /// With large values outside of the rows.
        package let bytes: UInt64
        package let indexBytes: UInt64
    }

    package let location: String
    package let schema: String
    /// As "PostgreSQL 15.18".
    package let server: String
    package let abilities: [String]
    package let identifier: String
    package let configuration: String?
    package let entities: [(name: String, objects: Int)]
    /// Rows of entities that the model lacks.
    package let unnamed: Int
    /// Of entities, then of relationships.
    package let tables: [Table]
    /// The number of transactions; nil where no history is kept.
    package let transactions: Int?
}

extension StoreTransfer {
    package var schema: String { location.schema }

    /// The model with which the store was made, and its configuration; nil where no store is in the schema.
    package func storedModel() throws -> (model: NSManagedObjectModel, configuration: String?)? {
        try opened { connection in
            let stored = try StoredSchema(connection, location)
            guard let metadata = try stored.metadata(), let model = try stored.model() else { return nil }
            return (model, StoredConfiguration.name(in: model, metadata))
        }
    }

    /// Whether the store has no objects.
    package func isEmpty() throws -> Bool {
        try opened { connection in try StoredCounts(known(connection).layout, connection).rows == 0 }
    }

    package func inspect() throws -> DatabaseInspection {
        try opened { connection in
            // All statements see one state.
            try connection.begin(PostgreSQLTransaction(.repeatableRead, isReadOnly: true))
            let store = try known(connection), layout = store.layout, counts = try StoredCounts(layout, connection)
            let names = Dictionary(layout.entities.map { ($0.number, $0.table.runtime.entity.name ?? "") }) { first, _ in first }
            var entities: [(name: String, objects: Int)] = [], unnamed = 0
            for count in counts.counts {
                if let name = names[count.entity] { entities.append((name, count.rows)) } else { unnamed += count.rows }
            }
            let isKept = store.stored.values[StoreTables.Key.history] != nil, abilities = try ServerAbilities(connection)
            return DatabaseInspection(
                location: location.shown, schema: location.schema, server: abilities.product, abilities: abilities.names,
                identifier: store.metadata[NSStoreUUIDKey] as? String ?? "", configuration: store.configuration,
                entities: entities.sorted { $0.name < $1.name }, unnamed: unnamed, tables: try tables(layout, counts, connection),
                transactions: isKept ? try transactions(connection) : nil)
        }
    }

    private func opened<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
        try PostgreSQLStore.withConnection(location, NSPersistentStoreOpenError, body)
    }

    /// A store as its schema has it.
    struct Known {
        let layout: PostgreSQLLayout
        let stored: StoredSchema
        let metadata: [String: Any]
        let model: NSManagedObjectModel
        let configuration: String?
    }

    /// Reads the store's own values, and compares its tables with its model.
    func known(_ connection: PostgreSQLConnection) throws -> Known {
        let stored = try StoredSchema(connection, location)
        guard let metadata = try stored.metadata(), let model = try stored.model() else { throw StoreFault.missing(location) }
        model.makeImmutable()
        let configuration = StoredConfiguration.name(in: model, metadata)
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        let layout = try SchemaText.layout(of: entities, in: location.schema, numbers: stored.numbers, version: stored.version)
        try stored.check(layout, location)
        return Known(layout: layout, stored: stored, metadata: metadata, model: model, configuration: configuration)
    }

    private func tables(
        _ layout: PostgreSQLLayout, _ counts: StoredCounts, _ connection: PostgreSQLConnection
    ) throws -> [DatabaseInspection.Table] {
        var batch = PostgreSQLBatch()
        for table in layout.tableNames {
            var parameters = PostgreSQLParameters()
            try parameters.addText(table)
            batch.add(
                PostgreSQLStatement("SELECT pg_table_size($1::regclass), pg_indexes_size($1::regclass)", isPrepared: false), parameters)
        }
        for link in layout.links { batch.add(PostgreSQLStatement("SELECT count(*) FROM \(link.quoted)", isPrepared: false)) }
        let results = try connection.execute(batch)
        return try (layout.families.map(\.name) + layout.links.map(\.name)).enumerated().map { index, name in
            let rows = index < layout.families.count
                ? counts.counts.filter { $0.family == index }.reduce(0) { $0 + $1.rows }
                : Int(try results[layout.tableNames.count + index - layout.families.count].int64(0, 0))
            return DatabaseInspection.Table(
                name: name, rows: rows, bytes: UInt64(max(0, try results[index].int64(0, 0))),
                indexBytes: UInt64(max(0, try results[index].int64(0, 1))))
        }
    }
}
