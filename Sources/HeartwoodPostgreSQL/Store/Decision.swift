import Foundation
internal import HeartwoodPostgreSQLClient

/// A store's decision about a save over several stores: a row among the store's values.
///
/// (1) The save's transaction inserts the row. A client that asks for good inserts it too, as a refusal. The server takes one of two rows with one key, and
///     the second insertion waits for the end of the first one's transaction. So there is one decision, and nobody has to know whether the saver
///     lives.
/// (2) A saver that hangs loses its transaction after `patience`, and with it the row.
struct Decision {
    private static let committed = "committed", refused = "refused"
    /// How long the deciding transaction may be idle while others prepare, and how long one that asks waits, in milliseconds.
    private static let patience = 60_000, wait = 5_000

    private let key: String
    private let table: String

    init(_ group: UUID, _ location: StoreLocation) {
        key = "decision \(group.uuidString)"
        table = location.table(StoreTables.values)
    }

    private func row(_ value: String? = nil) throws -> PostgreSQLParameters {
        var parameters = PostgreSQLParameters()
        try parameters.addText(key)
        if let value { try parameters.addBytes(Data(value.utf8)) }
        return parameters
    }

    /// The statements that end the deciding transaction, but for its commit. Behind them nothing but a loss keeps it from being committed.
    func making() throws -> PostgreSQLBatch {
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLStatement("INSERT INTO \(table) VALUES ($1, $2)"), try row(Self.committed))
        batch.add("SET CONSTRAINTS ALL IMMEDIATE")
        batch.add(PostgreSQLStatement("SET LOCAL idle_in_transaction_session_timeout = \(Self.patience)"))
        return batch
    }

    private var reading: PostgreSQLStatement { PostgreSQLStatement("SELECT value FROM \(table) WHERE key = $1", isPrepared: false) }

    private static func isCommitted(_ answer: PostgreSQLResult) throws -> Bool {
        try answer.count > 0 && answer.bytes(0, 0) == Data(committed.utf8)
    }

    /// Whether the decision is there by now.
    func isMade(_ connection: PostgreSQLConnection) throws -> Bool { try Self.isCommitted(try connection.execute(reading, try row())) }

    /// The decision for good: where there is none, it is a refusal from now on.
    /// - Returns: nil while the saver is at it.
    func settled(_ connection: PostgreSQLConnection) throws -> Bool? {
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLTransaction().begin)
        batch.add(PostgreSQLStatement("SET LOCAL lock_timeout = \(Self.wait)", isPrepared: false))
        batch.add(PostgreSQLStatement("INSERT INTO \(table) VALUES ($1, $2) ON CONFLICT DO NOTHING", isPrepared: false), try row(Self.refused))
        batch.add(reading, try row())
        do {
            return try Self.isCommitted(try connection.commit(batch)[3])
        } catch let error as PostgreSQLError where error.state == "55P03" {
            try connection.rollback()
            return nil
        }
    }

    func forget(_ connection: PostgreSQLConnection) throws {
        try connection.execute(PostgreSQLStatement("DELETE FROM \(table) WHERE key = $1"), try row())
    }
}
