internal import Foundation

extension PostgreSQLConnection {
    /// Runs a `COPY … FROM STDIN (FORMAT binary)`. Two round trips, whatever the number of rows.
    /// - Parameter fill: adds rows, and returns false after the last. The client sends them after each call, so some dozens of kilobytes a call
    ///   are best. If it throws, the server takes no row.
    /// - Returns: the number of rows that the server took.
    /// - Throws: the server's error, or that of `fill`.
    @discardableResult
    package func copyIn(_ sql: String, _ fill: (inout PostgreSQLRows) throws -> Bool) throws -> Int {
        try streamIn(sql) { writer in while try fill(&writer.rows) { try writer.send() } }
    }

    /// The same for a caller that decides when to send.
    /// - Parameter body: adds all rows. If it throws, the server takes none.
    @discardableResult
    package func streamIn(_ sql: String, _ body: (inout PostgreSQLCopyWriter) throws -> Void) throws -> Int {
        try takeAhead()
        var failure: (any Error)?
        let copied = try running { (deadline) throws(PostgreSQLError) in
            let copy = CopyIn(self, deadline)
            try copy.begin(sql)
            var writer = PostgreSQLCopyWriter(copy)
            do {
                try body(&writer)
                try writer.send()
            } catch let error as PostgreSQLError where error.isConnectionLost {
                throw error
            } catch {
                failure = error
            }
            return try writer.finish(isGivenUp: failure != nil)
        }
        if let failure { throw failure }
        return copied
    }
}
