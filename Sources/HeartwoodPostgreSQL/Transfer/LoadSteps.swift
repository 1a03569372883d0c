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
    /// The names of marks.
    private enum Mark {
        static let source = "source"
        /// The conversion has made the schema.
        static let schema = "schema"
        static func table(_ name: String) -> String { "table " + name }
    }

    private let location: StoreLocation
    private let connection: PostgreSQLConnection
    private let layout: PostgreSQLLayout
    /// By name: the marks that an earlier run has left.
    private var marks: [String: String] = [:]

    private var marksTable: String { location.table(StoreTables.conversion) }

    /// Begins the conversion, or goes on with one of the same source.
    /// - Parameter source: the same text for the same rows.
    /// - Throws: 134050 where the schema has a store, 134020 where it has tables of others.
    init(_ location: StoreLocation, _ connection: PostgreSQLConnection, _ layout: PostgreSQLLayout, source: String) throws {
        (self.location, self.connection, self.layout) = (location, connection, layout)
        try connection.execute(StoreCreation.lock("pg_advisory_lock", location))
        let stored = try StoredSchema(connection, location)
        guard !stored.hasStore else { throw StoreFault.taken(location) }
        let statements = SchemaStatements(layout).tables, description = ([source] + statements).joined(separator: "\n")
        if stored.hasConversion {
            marks = try Self.marks(location, connection)
            guard marks[Mark.source] != description else { return }
            try giveUp()
            marks = [:]
        } else {
            try stored.checkIsEmpty(location)
        }
        let isMade = try isSchemaMissing()
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLTransaction().begin)
        for text in statements { batch.add(PostgreSQLStatement(text, isPrepared: false)) }
        batch.add(PostgreSQLStatement("CREATE TABLE \(marksTable) (name text PRIMARY KEY, value text NOT NULL)", isPrepared: false))
        try add(Mark.source, description, to: &batch)
        if isMade { try add(Mark.schema, "", to: &batch) }
        try connection.commit(batch)
    }

    private static func marks(_ location: StoreLocation, _ connection: PostgreSQLConnection) throws -> [String: String] {
        let found = try connection.execute(
            PostgreSQLStatement("SELECT name, value FROM \(location.table(StoreTables.conversion))", isPrepared: false))
        var marks: [String: String] = [:]
        for line in 0..<found.count { marks[try found.text(line, 0)] = try found.text(line, 1) }
        return marks
    }

    private func isSchemaMissing() throws -> Bool {
        var parameters = PostgreSQLParameters()
        try parameters.addText(location.schema)
        return try connection.execute(PostgreSQLStatement("SELECT 1 FROM pg_namespace WHERE nspname = $1", isPrepared: false), parameters).count == 0
    }

    private func add(_ mark: String, _ value: String, to batch: inout PostgreSQLBatch) throws {
        var parameters = PostgreSQLParameters()
        try parameters.addText(mark)
        try parameters.addText(value)
        batch.add(PostgreSQLStatement("INSERT INTO \(marksTable) VALUES ($1, $2)", isPrepared: false), parameters)
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
        try add(Mark.table(name), "", to: &last)
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
        try StoreTables.set(values, in: location, to: &batch)
        batch.add(PostgreSQLStatement("DROP TABLE \(marksTable)", isPrepared: false))
        try connection.commit(batch)
    }

    /// Leaves the schema as it was before the conversion.
    func giveUp() throws {
        if connection.transactionState != .idle { try connection.rollback() }
        let stored = try StoredSchema(connection, location)
        guard !stored.hasStore, stored.hasConversion else { return }
        let marks = try Self.marks(location, connection), schema = SQLName.quoted(location.schema)
        let list = stored.names.map { "\(schema).\(SQLName.quoted($0))" }.joined(separator: ", ")
        try connection.execute(PostgreSQLStatement("DROP TABLE \(list) CASCADE", isPrepared: false))
        guard marks[Mark.schema] != nil, stored.tables.count == stored.names.count else { return }
        // Others may have made something else than a table in it; it stays then.
        _ = try? connection.execute(PostgreSQLStatement("DROP SCHEMA \(schema)", isPrepared: false))
    }
}
