internal import Foundation

extension PostgreSQLConnection {
    /// Runs a statement, and passes each row on when it comes, as an answer of one row. One round trip. Memory holds a row at a time. The statement
    /// is not prepared.
    /// - Throws: the server's error, or that of `row`, after which the rest of the rows is dropped.
    package func stream(
        _ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters = PostgreSQLParameters(), _ row: (PostgreSQLResult) throws -> Void
    ) throws {
        try takeAhead()
        var failure: (any Error)?
        try running { (deadline) throws(PostgreSQLError) in
            try beginStream(statement, parameters)
            while let result = try nextOfStream(deadline) {
                switch library.resultStatus(result.answer) {
                case LibPQStatus.singleRow:
                    guard failure == nil else { continue }
                    do { try row(result) } catch {
                        failure = error
                        cancel()
                    }
                case LibPQStatus.rows, LibPQStatus.command: continue
                default:
                    let fault = error(result.answer, 0)
                    if !isBroken { try drain(deadline) }
                    // The cancelled statement's error says nothing new.
                    guard failure != nil, !fault.isConnectionLost else { throw fault }
                    return
                }
            }
        }
        if let failure { throw failure }
    }

    private func beginStream(_ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters) throws(PostgreSQLError) {
        guard !statement.text.utf8.contains(0) else { throw PostgreSQLError(.badValue, "A statement's text contains U+0000.") }
        roundTrips += 1
        let types = parameters.types.map(\.number)
        let isSent = parameters.withPointers { values, lengths, formats in
            library.sendParameters(handle, statement.text, CInt(types.count), types, values, lengths, formats, 1) == 1
        }
        guard isSent, library.setSingleRowMode(handle) == 1 else { throw lost() }
    }

    private func nextOfStream(_ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) -> PostgreSQLResult? {
        try wait(deadline)
        return library.getResult(handle).map { PostgreSQLResult($0, library, notices) }
    }
}
