import Foundation
internal import HeartwoodPostgreSQLClient

/// How far a transaction has come, so that its outcome can be found out where the connection is lost.
///
/// open -> committing -> answered. A connection that is lost before the commit leaves nothing; one that is lost later leaves the question.
final class TransactionTrace {
    /// The server's number of the transaction; nil before it is known.
    private(set) var number: UInt64?
    /// The mark that the transaction has found (`CrashMark`); nil for none.
    private(set) var mark: UUID?
    /// A row that only this transaction inserts: a new one, whose number no other client has.
    var newRow: (family: FamilyTable, number: Int64)?
    /// Whether a second run changes nothing behind the first.
    var isRepeatable = false
    /// Statements in place of the commit, where a save over several stores decides later; nil to commit.
    var ending: PostgreSQLBatch?
    /// Whether the commit, or what stands in its place, may have reached the server.
    private(set) var isCommitting = false

    /// Runs the last statements of the transaction and commits.
    func commit(_ last: PostgreSQLBatch, _ connection: PostgreSQLConnection) throws -> [PostgreSQLResult] {
        isCommitting = true
        guard let ending else { return try connection.commit(last) }
        return try connection.execute(last + ending)
    }

    /// The first statements of a transaction: it begins, the server checks the version of the tables, and tells the number.
    /// - Parameter numbered: false where the transaction is one round trip, which tells no number in time.
    /// - Returns: the place of the statement that tells the number; nil for none.
    static func begin(
        _ transaction: PostgreSQLTransaction, _ layout: PostgreSQLLayout, numbered: Bool, in batch: inout PostgreSQLBatch
    ) -> Int? {
        batch.add(transaction.begin)
        batch.add(layout.writing.statement(.beginning(isNumbered: numbered)) {
            "SELECT \(numbered ? "pg_current_xact_id(), \(layout.crashMark.expression)" : "1") WHERE \(layout.isCurrent)"
        })
        return numbered ? batch.count - 1 : nil
    }

    /// Takes the answer to the statement that tells the number.
    func note(_ answer: PostgreSQLResult) throws {
        number = try answer.xid8(0, 0)
        mark = try answer.isNull(0, 1) ? nil : answer.uuid(0, 1)
    }
}
