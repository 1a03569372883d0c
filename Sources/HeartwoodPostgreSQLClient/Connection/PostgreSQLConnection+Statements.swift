internal import Foundation

extension PostgreSQLConnection {
    /// Runs a statement in one round trip. Also its first time: the client prepares it in the same.
    /// - Throws: the server's error. An open transaction is failed then, and wants a rollback. `connectionLost`: the statement may have run.
    @discardableResult
    package func execute(
        _ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters = PostgreSQLParameters()
    ) throws(PostgreSQLError) -> PostgreSQLResult {
        var batch = PostgreSQLBatch()
        batch.add(statement, parameters)
        return try execute(batch)[0]
    }

    /// Runs all statements in one round trip where libpq has pipelines (version 14), otherwise one after the other.
    /// - Returns: a result for each statement.
    /// - Throws: the first error, which names its statement's place; that of a statement that `send` has sent is negative. The server skips the
    ///   statements behind it.
    @discardableResult
    package func execute(_ batch: PostgreSQLBatch) throws(PostgreSQLError) -> [PostgreSQLResult] {
        guard !batch.items.isEmpty || ahead != nil else { return [] }
        try BatchRun.check(batch)
        let wasIdle = transactionState == .idle
        do throws(PostgreSQLError) {
            return try run(batch)
        } catch {
            guard error.isStalePlan, !isBroken else { throw error }
            prepared.removeAll(serverHasThem: error.state != "26000")
            // Nothing has happened yet.
            guard wasIdle, batch.count == 1 else { throw error }
            return try run(batch)
        }
    }

    private func run(_ batch: PostgreSQLBatch) throws(PostgreSQLError) -> [PostgreSQLResult] {
        try running { (deadline) throws(PostgreSQLError) in
            var run = takeRun(deadline)
            return try run.results(batch)
        }
    }

    /// Sends statements of an open transaction, or with its beginning, and does not wait for their answers. The server works on them meanwhile. The
    /// next `execute` is of the same round trip, takes their answers too, and throws their errors. Where libpq has no pipelines they run at once.
    /// - Throws: `badValue`; nothing was sent then. `connectionLost`. Without pipelines also the server's error.
    package func send(_ batch: PostgreSQLBatch) throws(PostgreSQLError) {
        guard let pipeline else { return _ = try execute(batch) }
        try BatchRun.check(batch)
        try running { (deadline) throws(PostgreSQLError) in
            var run = takeRun(deadline)
            defer { if isOpen { ahead = run } }
            try run.sendAhead(batch, pipeline)
        }
    }

    /// The run that `send` has begun, or a new one.
    private func takeRun(_ deadline: ContinuousClock.Instant?) -> BatchRun {
        var run = ahead ?? BatchRun(self, deadline)
        ahead = nil
        run.deadline = deadline
        return run
    }

    package func begin(_ transaction: PostgreSQLTransaction = PostgreSQLTransaction()) throws(PostgreSQLError) { try execute(transaction.begin) }

    /// Runs the last statements of a transaction and commits, in one round trip.
    /// - Returns: a result for each statement, and that of the commit.
    /// - Throws: the first error of a statement. `connectionLost` where the answer was lost: `PostgreSQLConnection.outcome(of:)` finds out. A transaction
    ///   that had failed is rolled back, and throws the state 25P02.
    @discardableResult
    package func commit(_ last: PostgreSQLBatch = PostgreSQLBatch()) throws(PostgreSQLError) -> [PostgreSQLResult] {
        var batch = last
        batch.add(.commit)
        let results = try execute(batch)
        guard results.last?.commandTag != "ROLLBACK" else {
            throw PostgreSQLError(.server, "The transaction had failed, so the server rolled it back.", state: "25P02")
        }
        return results
    }

    /// Rolls the transaction back. The errors of what was sent before and not answered are of no interest then.
    package func rollback() throws(PostgreSQLError) {
        try? takeAhead()
        try execute(.rollback)
    }

    /// Takes the answers to what was sent ahead, before a call that is of no batch.
    func takeAhead() throws(PostgreSQLError) { if ahead != nil { try execute(PostgreSQLBatch()) } }

    /// Runs `body` with the statement's deadline, and counts the statement as running for `cancel`.
    func running<Value>(_ body: (ContinuousClock.Instant?) throws(PostgreSQLError) -> Value) throws(PostgreSQLError) -> Value {
        guard isOpen else { throw PostgreSQLError(.connectionLost, "The connection to the server is closed.") }
        try canceller.begin()
        let value: Value
        do {
            value = try body(configuration.statementTimeout.map { .now + $0 })
        } catch {
            throw named(error, canceller.end(of: self))
        }
        _ = canceller.end(of: self)
        return value
    }

    /// A cancelled statement has one state; the client knows who cancelled it.
    private func named(_ error: PostgreSQLError, _ reason: StatementCanceller.Reason?) -> PostgreSQLError {
        guard error.state == "57014", let reason else { return error }
        let (kind, message): (PostgreSQLError.Kind, String) = switch reason {
        case .caller: (.cancelled, "The caller cancelled the statement.")
        case .deadline: (.timedOut, "The statement took longer than its limit and was cancelled.")
        case .hindrance(let text): (.unavailable, text)
        }
        return PostgreSQLError(kind, message, state: error.state, particulars: error.particulars, statement: error.statement)
    }
}
