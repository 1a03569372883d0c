import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// Makes a store's tables in an empty schema.
struct StoreCreation {
    private let location: StoreLocation
    private let connection: PostgreSQLConnection

    init(_ location: StoreLocation, _ connection: PostgreSQLConnection) { (self.location, self.connection) = (location, connection) }

    /// Makes the tables in one transaction. If another client has made the store meanwhile, nothing happens.
    /// - Parameter contents: gives the layout and the store's values.
    /// - Returns: false where a store was there.
    /// - Throws: 134020 if the schema has tables of others.
    @discardableResult
    func run(_ contents: (StoredSchema) throws -> (layout: PostgreSQLLayout, values: [String: Data])) throws -> Bool {
        try connection.execute(Self.beginning(location))
        let stored = try StoredSchema(connection, location)
        guard !stored.hasStore else {
            try connection.rollback()
            return false
        }
        try stored.checkIsEmpty(location)
        let (layout, values) = try contents(stored)
        var batch = PostgreSQLBatch()
        for text in SchemaStatements(layout).all { batch.add(PostgreSQLStatement(text, isPrepared: false)) }
        try StoreTables.set(values, in: location, to: &batch)
        try connection.commit(batch)
        return true
    }

    /// Begins a transaction in which one client at a time makes or changes the tables of a schema.
    /// - Parameter timeout: how long it waits for a lock, in milliseconds; nil for the server's setting.
    static func beginning(_ location: StoreLocation, timeout: Int? = nil) throws -> PostgreSQLBatch {
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLTransaction().begin)
        if let timeout { batch.add(PostgreSQLStatement("SET LOCAL lock_timeout = \(timeout)", isPrepared: false)) }
        return batch + (try lock("pg_advisory_xact_lock", location))
    }

    /// Locks the schema against others who make or change its tables.
    /// - Parameter function: of the server: the lock lasts as long as the transaction, or as the session.
    static func lock(_ function: String, _ location: StoreLocation) throws -> PostgreSQLBatch {
        var batch = PostgreSQLBatch(), parameters = PostgreSQLParameters()
        try parameters.addText("heartwood " + location.schema)
        batch.add(PostgreSQLStatement("SELECT \(function)(hashtextextended($1, 0))", isPrepared: false), parameters)
        return batch
    }
}
