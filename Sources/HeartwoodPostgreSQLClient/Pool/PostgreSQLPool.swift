internal import Foundation

/// Connections to one server that threads share. Connections are `size` at most; threads get one in the order in which they ask.
///
/// A thread that holds a connection must not ask for a second one: with all connections lent, it would wait for itself.
package final class PostgreSQLPool: @unchecked Sendable {
    // Unchecked: `lock` guards the state.

    package let configuration: PostgreSQLConfiguration
    package let size: Int
    /// How long `withConnection` waits for a connection. nil: without an end.
    package let takeTimeout: Duration?
    /// A connection that was idle for so long is asked whether it lives before it is lent.
    package let checkAfter: Duration

    private struct Idle {
        let connection: PostgreSQLConnection
        let since: ContinuousClock.Instant
    }

    private struct State {
        /// The last one is lent first, so that connections that are not needed stay idle.
        var idle: [Idle] = []
        /// Lent, idle, and about to open.
        var open = 0
        var waiters: [PoolWaiter] = []
        var isClosed = false
    }

    /// Each save and each read takes it twice. A `Mutex` gives itself to a sleeping thread, and more threads than cores then wait for that one.
    private let lock = NSLock()
    private var state = State()
    private let allAreBack = DispatchSemaphore(value: 0)

    package init(_ configuration: PostgreSQLConfiguration, size: Int = 8, takeTimeout: Duration? = nil, checkAfter: Duration = .seconds(30)) {
        self.configuration = configuration
        self.size = max(1, size)
        self.takeTimeout = takeTimeout
        self.checkAfter = checkAfter
    }

    private func withState<Value>(_ body: (inout State) -> Value) -> Value { lock.withLock { body(&state) } }

    deinit { for entry in state.idle { entry.connection.close() } }

    /// The connections that are open, those of them that are idle, and the threads that wait for one.
    package var counts: (open: Int, idle: Int, waiting: Int) { withState { ($0.open, $0.idle.count, $0.waiters.count) } }

    /// Lends a connection to `body`. A transaction that `body` leaves open is rolled back; a broken connection is thrown away.
    /// - Throws: `unavailable` when the pool is closed or no connection becomes free in time, the errors of connecting, and those of `body`.
    package func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        let connection = try take()
        defer { giveBack(connection) }
        return try body(connection)
    }

    /// Takes a connection that the caller gives back later.
    package func take() throws(PostgreSQLError) -> PostgreSQLConnection { try take(PoolWaiter()) }

    func take(_ waiter: PoolWaiter) throws(PostgreSQLError) -> PostgreSQLConnection {
        switch ask(waiter) ?? waiter.wait(takeTimeout) ?? withdraw(waiter) {
        case .connection(let connection, let since):
            if connection.isAlive(asking: .now - since >= checkAfter) { return connection }
            connection.close()
            return try connect()
        case .place: return try connect()
        case .refusal: throw refusal
        }
    }

    /// Takes a connection back.
    package func giveBack(_ connection: PostgreSQLConnection) {
        if connection.isOpen, connection.transactionState != .idle { try? connection.rollback() }
        let isGood = connection.isOpen && connection.transactionState == .idle
        if !isGood { connection.close() }
        release(isGood ? connection : nil)
    }

    /// Refuses new users, and closes all connections: idle ones now, lent ones when they come back.
    /// - Parameter timeout: how long to wait until all are back; nil to wait without an end, zero not to wait.
    /// - Returns: false if some are not back yet.
    @discardableResult
    package func close(timeout: Duration? = .zero) -> Bool {
        let (idle, waiters, lent) = withState { state in
            defer {
                state.isClosed = true
                state.open -= state.idle.count
                state.idle = []
                state.waiters = []
            }
            return (state.idle, state.waiters, state.open - state.idle.count)
        }
        for entry in idle { entry.connection.close() }
        for waiter in waiters { waiter.give(.refusal) }
        guard lent > 0 else { return true }
        guard let timeout else {
            allAreBack.wait()
            return true
        }
        return allAreBack.wait(timeout: .now() + timeout.dispatched) == .success
    }
}

// MARK: Places

extension PostgreSQLPool {
    /// - Returns: nil if the waiter has to wait; it stands in the queue then.
    private func ask(_ waiter: PoolWaiter) -> PoolWaiter.Grant? {
        withState { state in
            if state.isClosed || waiter.isRefused { return .refusal }
            if let entry = state.idle.popLast() { return .connection(entry.connection, since: entry.since) }
            if state.open < size {
                state.open += 1
                return .place
            }
            state.waiters.append(waiter)
            return nil
        }
    }

    /// Ends the wait: with a refusal, or with what was granted at the last moment.
    private func withdraw(_ waiter: PoolWaiter) -> PoolWaiter.Grant {
        refuse(waiter)
        return waiter.wait(nil) ?? .refusal
    }

    /// Ends a waiter's wait, now or before it begins.
    func refuse(_ waiter: PoolWaiter) {
        let isOff = withState { state in
            waiter.refuse()
            guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
        if isOff { waiter.give(.refusal) }
    }

    private var refusal: PostgreSQLError {
        let isClosed = withState { $0.isClosed }
        return PostgreSQLError(
            .unavailable, isClosed ? "The pool of connections is closed." : "None of the pool's \(size) connections became free in time.")
    }

    /// Passes a place on, with its connection if that is good.
    private func release(_ connection: PostgreSQLConnection?) {
        let (waiter, unwanted) = withState { state -> (PoolWaiter?, PostgreSQLConnection?) in
            if state.isClosed || connection == nil && state.waiters.isEmpty {
                state.open -= 1
                if state.isClosed, state.open == 0 { allAreBack.signal() }
                return (nil, connection)
            }
            guard !state.waiters.isEmpty else {
                if let connection { state.idle.append(Idle(connection: connection, since: .now)) }
                return (nil, nil)
            }
            return (state.waiters.removeFirst(), nil)
        }
        unwanted?.close()
        waiter?.give(connection.map { .connection($0, since: .now) } ?? .place)
    }

    /// Opens a connection for a place that the caller has.
    private func connect() throws(PostgreSQLError) -> PostgreSQLConnection {
        do throws(PostgreSQLError) {
            return try PostgreSQLConnection(configuration)
        } catch {
            release(nil)
            throw error
        }
    }
}
