internal import Foundation
internal import Synchronization

/// What another connection told by NOTIFY.
package struct PostgreSQLNotification: Hashable, Sendable {
    package let channel: String
    /// The number of the server's process that sent it.
    package let process: Int32
    package let payload: String
}

/// Listens to channels over a connection of its own. One thread waits; any thread may end the wait.
package final class PostgreSQLListener: @unchecked Sendable {
    // Unchecked: the thread that waits has the connection.

    private let connection: PostgreSQLConnection
    private let wake: WakeUp

    /// Connects, and listens from now on.
    /// - Throws: the errors of connecting; `server` where the server has no LISTEN.
    package init(_ configuration: PostgreSQLConfiguration, channels: [String]) throws(PostgreSQLError) {
        wake = try WakeUp()
        connection = try PostgreSQLConnection(configuration)
        var batch = PostgreSQLBatch()
        for channel in channels { batch.add(PostgreSQLStatement("LISTEN \(try PostgreSQLName.quoted(channel))", isPrepared: false)) }
        try connection.execute(batch)
    }

    /// Waits until a notification comes.
    /// - Parameter timeout: nil to wait without an end.
    /// - Returns: all that have come, in the order of their commits. Empty after the timeout.
    /// - Throws: `unavailable` after `close`; `connectionLost`: notifications may be lost since the last call, so the caller looks for itself.
    package func wait(timeout: Duration? = nil) throws(PostgreSQLError) -> [PostgreSQLNotification] {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        while true {
            guard !wake.isClosed else { throw PostgreSQLError(.unavailable, "The listener is closed.") }
            let come = try connection.notifications()
            guard come.isEmpty else { return come }
            guard connection.waits(wake: wake.descriptor, until: deadline) else { return [] }
        }
    }

    /// The number of the server's process.
    package var serverProcess: Int32 { connection.serverProcess }

    /// Ends the wait, and all later ones. Any thread.
    package func close() { wake.close() }
}
