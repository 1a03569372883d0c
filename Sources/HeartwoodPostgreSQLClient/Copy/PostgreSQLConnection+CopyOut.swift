internal import Foundation

extension PostgreSQLConnection {
    /// Runs a `COPY … TO STDOUT (FORMAT binary)`, and passes each row on when it comes. One round trip. Memory holds a row at a time.
    /// - Throws: the server's error, or that of `row`, after which the rest of the rows is dropped.
    package func copyOut(_ sql: String, _ row: (PostgreSQLCopiedRow) throws -> Void) throws {
        try takeAhead()
        var failure: (any Error)?
        try running { (deadline) throws(PostgreSQLError) in
            var copy = CopyOut(self, deadline)
            try copy.begin(sql)
            while let bytes = try copy.next() {
                defer { copy.free(bytes) }
                guard failure == nil else { continue }
                do { if let found = try copy.row(bytes) { try row(found) } } catch {
                    failure = error
                    cancel()
                }
            }
            do throws(PostgreSQLError) {
                try copy.finish()
            } catch {
                if failure == nil || error.isConnectionLost { throw error }
            }
        }
        if let failure { throw failure }
    }
}
