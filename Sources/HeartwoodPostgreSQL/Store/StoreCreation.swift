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
    /// - Throws: 134020 if the schema has tables of others.
    func run(_ contents: (StoredSchema) throws -> (layout: PostgreSQLLayout, values: [String: Data])) throws {
        var start = PostgreSQLBatch()
        start.add(PostgreSQLTransaction().begin)
        start.add(try Self.lock(location).statement, try Self.lock(location).parameters)
        _ = try connection.execute(start)
        let stored = try StoredSchema(connection, location)
        guard !stored.hasStore else { return try connection.rollback() }
        try stored.checkIsEmpty(location)
        let (layout, values) = try contents(stored)
        var batch = PostgreSQLBatch()
        for text in SchemaStatements(layout).all { batch.add(PostgreSQLStatement(text, isPrepared: false)) }
        let table = "\(SQLName.quoted(location.schema)).\(StoreTables.values)"
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            var parameters = PostgreSQLParameters()
            try parameters.addText(key)
            try parameters.addBytes(value)
            batch.add(PostgreSQLStatement("INSERT INTO \(table) VALUES ($1, $2)", isPrepared: false), parameters)
        }
        try connection.commit(batch)
    }

    /// Lets one client at a time make or change the tables of a schema.
    static func lock(_ location: StoreLocation) throws -> (statement: PostgreSQLStatement, parameters: PostgreSQLParameters) {
        var parameters = PostgreSQLParameters()
        try parameters.addText("heartwood " + location.schema)
        return (PostgreSQLStatement("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", isPrepared: false), parameters)
    }
}
