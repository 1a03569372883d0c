internal import Foundation
internal import Synchronization

/// Cancels the statement that runs on a connection, from any thread.
///
/// libpq asks the server over a connection of its own and waits for it, so another thread does that. A statement's end waits for a request that
/// is on its way: it must not meet the next statement.
final class StatementCanceller: Sendable {
    enum Reason { case caller, deadline }

    private struct State {
        /// nil while no statement runs.
        var running: UInt64?
        var statements: UInt64 = 0
        var reason: Reason?
        var request: Request?
        /// The connection serves a task that was cancelled.
        var isRefusing = false
        var isEnded = false
    }

    private final class Request: @unchecked Sendable {
        // Unchecked: libpq's object of a cancellation is for any thread.
        let library: LibPQ
        let object: OpaquePointer
        let isDone = DispatchSemaphore(value: 0)

        init(_ library: LibPQ, _ object: OpaquePointer) {
            self.library = library
            self.object = object
        }

        deinit { library.freeCancel(object) }

        func send() {
            DispatchQueue.global().async { [self] in
                var text = [CChar](repeating: 0, count: 256)
                _ = library.cancel(object, &text, CInt(text.count))
                isDone.signal()
            }
        }
    }

    private let library: LibPQ
    private let connection: UnsafeSendable<LibPQ.Connection>
    private let state = Mutex(State())

    private struct UnsafeSendable<Value>: @unchecked Sendable { let value: Value }

    init(_ library: LibPQ, _ connection: LibPQ.Connection) {
        self.library = library
        self.connection = UnsafeSendable(value: connection)
    }

    /// - Throws: `cancelled` where statements are refused.
    func begin() throws(PostgreSQLError) {
        let isRefused = state.withLock { state in
            guard !state.isRefusing else { return true }
            state.statements += 1
            state.running = state.statements
            state.reason = nil
            return false
        }
        if isRefused { throw PostgreSQLError(.cancelled, "The task was cancelled before the statement ran.") }
    }

    /// Cancels the statement that runs, and refuses further ones until `allow`.
    func refuse() {
        state.withLock { $0.isRefusing = true }
        cancel()
    }

    func allow() { state.withLock { $0.isRefusing = false } }

    /// Requests a cancellation, once a statement.
    func cancel(_ reason: Reason = .caller) {
        let request: Request? = state.withLock { state in
            guard state.running != nil, state.request == nil, !state.isEnded else { return nil }
            guard let object = library.getCancel(connection.value) else { return nil }
            let request = Request(library, object)
            state.request = request
            state.reason = reason
            return request
        }
        request?.send()
    }

    /// Ends the statement.
    /// - Returns: who cancelled it, if anyone did.
    func end(of connection: PostgreSQLConnection) -> Reason? {
        let (request, reason) = state.withLock { state in
            defer {
                state.running = nil
                state.request = nil
            }
            return (state.request, state.reason)
        }
        let patience = connection.configuration.cancelPatience.dispatched
        if let request, request.isDone.wait(timeout: .now() + patience) == .timedOut { connection.isBroken = true }
        return reason
    }

    /// Ends all cancelling: the connection closes.
    func end() { state.withLock { $0.isEnded = true } }
}
