/// What became of a transaction.
package enum PostgreSQLOutcome: Sendable { case committed, rolledBack, running, forgotten }

extension PostgreSQLConnection {
    private static let number = PostgreSQLStatement("SELECT pg_current_xact_id()")
    private static let status = PostgreSQLStatement("SELECT pg_xact_status($1::text::xid8)")

    /// The number of the open transaction, by which `outcome(of:)` finds it later. PostgreSQL 13 or later.
    /// - Throws: the server's error, where it has no such numbers.
    package func transactionNumber() throws(PostgreSQLError) -> UInt64 { try execute(Self.number).xid8(0, 0) }

    /// Finds out what became of a transaction whose commit got no answer. Any connection to the same server may ask.
    /// - Returns: `running` while the server is still at it: ask again. `forgotten` for one so old that the server keeps nothing of it.
    package func outcome(of number: UInt64) throws(PostgreSQLError) -> PostgreSQLOutcome {
        var parameters = PostgreSQLParameters()
        try parameters.addText(String(number))
        let answer: PostgreSQLResult
        do {
            answer = try execute(Self.status, parameters)
        } catch {
            // Of a number that it has not given yet: a server that took the place of another one, and has not got the transaction.
            guard error.state == "22023" else { throw error }
            return .rolledBack
        }
        guard try !answer.isNull(0, 0) else { return .forgotten }
        switch try answer.text(0, 0) {
        case "committed": return .committed
        case "aborted": return .rolledBack
        default: return .running
        }
    }
}
