internal import Foundation
internal import Synchronization

extension PostgreSQLPool {
    /// Lends a connection to `body` on a thread that may block. When the task is cancelled, the server is asked to give the statement up.
    /// - Throws: `cancelled` from a statement of `body`, or `CancellationError` before `body` has begun.
    package func withConnection<Value: Sendable>(
        task body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
    ) async throws -> Value {
        let call = TaskCall(self)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                DispatchQueue.global().async { continuation.resume(with: Result { try call.run(body) }) }
            }
        } onCancel: {
            call.cancel()
        }
    }
}

/// One call of a task: it waits, then it runs. A cancellation meets it in either state.
private final class TaskCall: Sendable {
    private struct State: @unchecked Sendable {
        // Unchecked: only `cancel` of the connection is called here.
        var connection: PostgreSQLConnection?
        var isCancelled = false
    }

    private let pool: PostgreSQLPool
    private let waiter = PoolWaiter()
    private let state = Mutex(State())

    init(_ pool: PostgreSQLPool) { self.pool = pool }

    func run<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        try check()
        let connection: PostgreSQLConnection
        do { connection = try pool.take(waiter) } catch {
            try check()
            throw error
        }
        defer {
            // A cancellation that comes later meets nothing.
            state.withLock { $0.connection = nil }
            connection.canceller.allow()
            pool.giveBack(connection)
        }
        try begin(connection)
        return try body(connection)
    }

    private func check() throws { if state.withLock({ $0.isCancelled }) { throw CancellationError() } }

    private func begin(_ connection: PostgreSQLConnection) throws {
        let isCancelled = state.withLock { state in
            state.connection = connection
            return state.isCancelled
        }
        if isCancelled { throw CancellationError() }
    }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.connection?.canceller.refuse()
        }
        pool.refuse(waiter)
    }
}
