import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// Stores that are not loaded.
extension PostgreSQLStore {
    /// Runs `body` on a connection of its own.
    static func withConnection<Result>(_ location: StoreLocation, _ code: Int, _ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
        do {
            let connection = try PostgreSQLConnection(PostgreSQLConfiguration(location.connection))
            defer { connection.close() }
            return try body(connection)
        } catch {
            throw StoreFault.wrap(error, code, location.shown)
        }
    }

    private static func withStore<Result>(
        _ url: URL, _ code: Int, _ body: (PostgreSQLConnection, StoreLocation, StoredSchema) throws -> Result
    ) throws -> Result {
        let location = try StoreLocation(url)
        return try withConnection(location, code) { try body($0, location, try StoredSchema($0, location)) }
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
            guard stored.hasStore || stored.hasConversion else { return }
            try VersionChange.begin(connection, location, options)
            var last = PostgreSQLBatch()
            last.add(PostgreSQLStatement("DROP TABLE \(stored.quotedNames(location)) CASCADE", isPrepared: false))
            try connection.commit(last)
            stored.removeSchema(location, connection)
        }
    }

    package static func replace(at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?) throws {
        throw CoreDataError.unsupported(
            "A store of the type \(NSPostgreSQLStoreType) is not replaced by a copy; copy its schema with pg_dump and psql.")
    }
}
