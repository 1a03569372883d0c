internal import Foundation
internal import Synchronization

/// Connections to one server that threads share. So many at most; who asks first gets one first.
package final class PostgreSQLPool: Sendable {
    package let configuration: PostgreSQLConfiguration
    package let size: Int

    private struct State {
        var idle: [PostgreSQLConnection] = []
        var open = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let places: DispatchSemaphore

    package init(_ configuration: PostgreSQLConfiguration, size: Int = 8) {
        self.configuration = configuration
        self.size = max(1, size)
        places = DispatchSemaphore(value: max(1, size))
    }

    /// Lends a connection to `body`. A transaction that `body` leaves open is rolled back; a broken connection is thrown away.
    /// - Throws: `unavailable` when the pool is closed, the errors of connecting, and those of `body`.
    package func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        places.wait()
        defer { places.signal() }
        let kept = state.withLock { state in (state.isClosed, state.idle.popLast()) }
        guard !kept.0 else { throw PostgreSQLError(.unavailable, "The pool of connections is closed.") }
        let connection = try kept.1 ?? PostgreSQLConnection(configuration)
        defer {
            if connection.isOpen, connection.transactionState != .idle { try? connection.rollback() }
            if connection.isOpen { state.withLock { $0.idle.append(connection) } }
        }
        return try body(connection)
    }

    /// Closes all connections. Further calls of `withConnection` throw.
    package func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for connection in idle { connection.close() }
    }
}
