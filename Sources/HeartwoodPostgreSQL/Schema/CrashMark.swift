import Foundation
internal import HeartwoodPostgreSQLClient

/// A mark that is gone once the server may have lost transactions that it had not written: the row of an unlogged table.
///
/// The server empties such a table in the recovery from a crash, and a server that takes another one's place has it empty. It may then give the
/// number of a lost transaction to another one, so a number says what became of its transaction only while the mark is the same.
///
/// Source: https://www.postgresql.org/docs/15/sql-createtable.html (UNLOGGED)
struct CrashMark {
    private let table: String

    /// - Parameter schema: the name of the store's schema.
    init(schema: String) { table = SQLName.quoted(schema) + "." + StoreTables.crashMark }

    /// The mark as an expression of a statement; null where it is gone.
    var expression: String { "(SELECT mark FROM \(table))" }

    /// The statements that make the table and a mark, where they are not there.
    var creation: [String] {
        ["CREATE UNLOGGED TABLE IF NOT EXISTS \(table) (is_only boolean PRIMARY KEY CHECK (is_only), mark uuid NOT NULL)", setting]
    }

    private var setting: String { "INSERT INTO \(table) VALUES (true, md5(random()::text || clock_timestamp()::text)::uuid) ON CONFLICT DO NOTHING" }

    /// Makes a mark where none is.
    func set(_ connection: PostgreSQLConnection) throws { try connection.execute(PostgreSQLStatement(setting, isPrepared: false)) }

    /// Whether the mark that a transaction has read is still there.
    func isSame(as mark: UUID?, _ connection: PostgreSQLConnection) throws -> Bool {
        guard let mark else { return false }
        let found = try connection.execute(PostgreSQLStatement("SELECT \(expression)", isPrepared: false))
        return try !found.isNull(0, 0) && found.uuid(0, 0) == mark
    }
}
