import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// The steps of a conversion into a schema: empty tables, the rows of each table, the store. Each is a transaction, so a conversion that is cut off goes
/// on behind the last step that was committed.
///
/// (1) The session has the schema's lock up to its end, so no other client makes or changes tables meanwhile.
/// (2) The rows of a table come with the mark that they are there.
/// (3) The metadata, without which there is no store, come with the last step, which takes the marks away.
/// (4) Marks of another source, commit or layout serve nothing: their tables go, and the conversion begins anew.
struct LoadSteps {
    /// Marks are values of the store that is not there yet.
    private enum Mark {
        static let source = StoreTables.Key.conversion
        /// The conversion has made the schema.
        static let schema = source + " schema"
        static func table(_ name: String) -> String { source + " table " + name }
    }

    private let location: StoreLocation
    private let connection: PostgreSQLConnection
    private let layout: PostgreSQLLayout
    /// The marks that an earlier run has left.
    private var marks: [String: Data] = [:]

    /// Begins the conversion, or goes on with one of the same source.
    /// - Parameter source: the same text for the same rows.
    /// - Throws: 134050 where the schema has a store, 134020 where it has tables of others.
    init(_ location: StoreLocation, _ connection: PostgreSQLConnection, _ layout: PostgreSQLLayout, source: String) throws {
        (self.location, self.connection, self.layout) = (location, connection, layout)
        try connection.execute(StoreCreation.lock("pg_advisory_lock", location))
        let stored = try StoredSchema(connection, location)
        guard !stored.hasStore else { throw StoreFault.taken(location) }
        let statements = SchemaStatements(layout).tables, description = Data(([source] + statements).joined(separator: "\n").utf8)
        if stored.hasConversion {
            guard stored.values[Mark.source] != description else {
                marks = stored.values
                return
            }
            try remove(stored)
        } else {
            try stored.checkIsEmpty(location)
        }
        var made = [Mark.source: description]
        if try isSchemaMissing() { made[Mark.schema] = Data() }
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLTransaction().begin)
        for text in statements { batch.add(PostgreSQLStatement(text, isPrepared: false)) }
        try StoreTables.set(made, in: location, to: &batch)
        try connection.commit(batch)
    }

    private func isSchemaMissing() throws -> Bool {
        var parameters = PostgreSQLParameters()
        try parameters.addText(location.schema)
        return try connection.execute(PostgreSQLStatement("SELECT 1 FROM pg_namespace WHERE nspname = $1", isPrepared: false), parameters).count == 0
    }

    /// Whether an earlier run has sent the rows of a table.
    func isDone(_ name: String) -> Bool { marks[Mark.table(name)] != nil }

    /// Runs the step of a table.
    /// - Parameters:
    ///   - quoted: its name for statements.
    ///   - body: sends all rows of the table, which is empty.
    func run(_ name: String, _ quoted: String, _ body: () throws -> Void) throws {
        try connection.begin()
        // Rows that are sent to a table of the same transaction need no later freezing.
        try connection.execute(PostgreSQLStatement("TRUNCATE \(quoted)", isPrepared: false))
        try body()
        var last = PostgreSQLBatch()
        try StoreTables.set([Mark.table(name): Data()], in: location, to: &last)
        try connection.commit(last)
    }

    /// Runs the last step: indexes and references, which the server checks, and the store's values.
    /// - Parameter statements: what else belongs to it.
    func finish(_ values: [String: Data], _ statements: [PostgreSQLStatement]) throws {
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLTransaction().begin)
        for statement in statements { batch.add(statement) }
        for text in SchemaStatements(layout).checks { batch.add(PostgreSQLStatement(text, isPrepared: false)) }
        batch.add(PostgreSQLStatement("ANALYZE \(layout.tableNames.joined(separator: ", "))", isPrepared: false))
        batch.add(PostgreSQLStatement("DELETE FROM \(location.table(StoreTables.values)) WHERE key LIKE '\(Mark.source)%'", isPrepared: false))
        try StoreTables.set(values, in: location, to: &batch)
        try connection.commit(batch)
    }

    /// Leaves the schema as it was before the conversion.
    func giveUp() throws {
        if connection.transactionState != .idle { try connection.rollback() }
        let stored = try StoredSchema(connection, location)
        if !stored.hasStore, stored.hasConversion { try remove(stored) }
    }

    /// Removes the tables of a conversion, and the schema if it made that.
    private func remove(_ stored: StoredSchema) throws {
        try connection.execute(PostgreSQLStatement("DROP TABLE \(stored.quotedNames(location)) CASCADE", isPrepared: false))
        if stored.values[Mark.schema] != nil { stored.removeSchema(location, connection) }
    }
}
