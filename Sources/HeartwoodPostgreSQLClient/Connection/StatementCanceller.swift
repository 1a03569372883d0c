internal import Foundation
internal import Synchronization

/// Cancels the statement that runs on a connection, from any thread.
///
/// libpq asks the server over a connection of its own and waits for it, so another thread does that. A statement's end waits for a request that
/// is on its way: it must not meet the next statement.
final class StatementCanceller: Sendable {
    enum Reason {
        case caller, deadline
        /// The client has found out that the statement waits in vain; the text says for what.
        case hindrance(String)
    }

    private struct State {
        var isRunning = false
        var reason: Reason?
        var request: Request?
        /// The connection serves a task that was cancelled.
        var isRefusing = false
        var isEnded = false
    }

    /// One statement's cancellation. The server ignores a request that comes before the statement, so the request is made again until the end.
    private final class Request: @unchecked Sendable {
        // Unchecked: libpq's object of a cancellation is for any thread.
        private let library: LibPQ
        private let object: OpaquePointer
        private let isOver = DispatchSemaphore(value: 0), isDone = DispatchSemaphore(value: 0)

        /// Milliseconds between two requests.
        private static let pauses = 10...1000

        init(_ library: LibPQ, _ object: OpaquePointer) {
            self.library = library
            self.object = object
        }

        deinit { library.freeCancel(object) }

        func begin() {
            Thread.detachNewThread { [self] in
                var pause = Self.pauses.lowerBound
                ask()
                while isOver.wait(timeout: .now() + .milliseconds(pause)) == .timedOut {
                    ask()
                    pause = min(2 * pause, Self.pauses.upperBound)
                }
                isDone.signal()
            }
        }

        /// An error has no consequence: the statement goes on, and so do the requests.
        private func ask() {
            var text = [CChar](repeating: 0, count: 256)
            _ = library.cancel(object, &text, CInt(text.count))
        }

        /// - Returns: false if a request is still on its way after the timeout.
        func end(_ timeout: DispatchTimeInterval) -> Bool {
            isOver.signal()
            return isDone.wait(timeout: .now() + timeout) == .success
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
            state.isRunning = true
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

    /// Requests a cancellation of the statement that runs, if one does.
    func cancel(_ reason: Reason = .caller) {
        let request: Request? = state.withLock { state in
            guard state.isRunning, state.request == nil, !state.isEnded else { return nil }
            guard let object = library.getCancel(connection.value) else { return nil }
            let request = Request(library, object)
            state.request = request
            state.reason = reason
            return request
        }
        request?.begin()
    }

    /// Ends the statement.
    /// - Returns: who cancelled it, if anyone did.
    func end(of connection: PostgreSQLConnection) -> Reason? {
        let (request, reason) = state.withLock { state in
            defer {
                state.isRunning = false
                state.request = nil
            }
            return (state.request, state.reason)
        }
        if let request, !request.end(connection.configuration.cancelPatience.dispatched) { connection.isBroken = true }
        return reason
    }

    /// Ends all cancelling: the connection closes.
    func end() { state.withLock { $0.isEnded = true } }
}
