import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// Stores that are not loaded.
extension PostgreSQLStore {
    private static func withStore<Result>(
        _ url: URL, _ code: Int, _ body: (PostgreSQLConnection, StoreLocation, StoredSchema) throws -> Result
    ) throws -> Result {
        let location = try StoreLocation(url)
        do {
            let connection = try PostgreSQLConnection(PostgreSQLConfiguration(location.connection))
            defer { connection.close() }
            return try body(connection, location, try StoredSchema(connection, location))
        } catch {
            throw StoreFault.wrap(error, code, location.shown)
        }
    }

    package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try withStore(url, NSPersistentStoreOpenError) { _, location, stored in
            guard let metadata = try stored.metadata() else { throw StoreFault.missing(location) }
            return metadata
        }
    }

    package static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try withStore(url, NSPersistentStoreSaveError) { connection, location, stored in
            guard let old = try stored.metadata() else { throw StoreFault.missing(location) }
            var parameters = PostgreSQLParameters()
            try parameters.addBytes(Data(try RecordLogMetadata.encode(RecordLogMetadata.keepingOwn(old, in: metadata ?? [:]))))
            try connection.execute(metadataStatement(location), parameters)
        }
    }

    package static func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        try withStore(url, NSPersistentStoreOpenError) { _, _, stored in try stored.model() }
    }

    /// Removes the store's tables, and its schema if nothing else is in it.
    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try withStore(url, NSPersistentStoreOperationError) { connection, location, stored in
            guard stored.hasStore else { return }
            let schema = SQLName.quoted(location.schema)
            let tables = try connection.execute(PostgreSQLStatement("SELECT DISTINCT table_name FROM \(schema).\(StoreTables.entities)", isPrepared: false))
            var names = Array(StoreTables.names.filter { stored.tables[$0] != nil })
            for line in 0..<tables.count { names.append(try tables.text(line, 0)) }
            names += stored.tables.filter { $0.value[LinkTable.sourceEntity] != nil && $0.value[LinkTable.destinationEntity] != nil }.map(\.key)
            let list = names.filter { stored.tables[$0] != nil }.map { "\(schema).\(SQLName.quoted($0))" }.joined(separator: ", ")
            try connection.execute(PostgreSQLStatement("DROP TABLE \(list) CASCADE", isPrepared: false))
            // Others may have something in the schema; it stays then.
            guard stored.tables.count == names.count else { return }
            _ = try? connection.execute(PostgreSQLStatement("DROP SCHEMA \(schema)", isPrepared: false))
        }
    }

    package static func replace(at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?) throws {
        throw CoreDataError.unsupported(
            "A store of the type \(NSPostgreSQLStoreType) is not replaced by a copy; copy its schema with pg_dump and psql.")
    }
}
