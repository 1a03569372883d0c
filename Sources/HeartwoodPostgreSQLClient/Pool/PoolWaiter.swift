internal import Foundation
internal import Synchronization

/// A thread that waits for a place of the pool.
final class PoolWaiter: Sendable {
    enum Grant: @unchecked Sendable {
        // Unchecked: the waiter has the connection from here on.
        case connection(PostgreSQLConnection, since: ContinuousClock.Instant)
        /// The waiter connects by itself.
        case place
        case refusal
    }

    private let grant = Mutex<Grant?>(nil)
    /// True once its task was cancelled: it gets nothing from the queue.
    private let isCancelled = Atomic(false)
    private let isGranted = DispatchSemaphore(value: 0)

    /// The thread that takes the waiter off the queue calls this, so the call comes once.
    func give(_ grant: Grant) {
        self.grant.withLock { $0 = grant }
        isGranted.signal()
    }

    var isRefused: Bool { isCancelled.load(ordering: .acquiring) }
    func refuse() { isCancelled.store(true, ordering: .releasing) }

    /// - Returns: nil after the timeout.
    func wait(_ timeout: Duration?) -> Grant? {
        guard let timeout else {
            isGranted.wait()
            return grant.withLock { $0 }
        }
        guard isGranted.wait(timeout: .now() + timeout.dispatched) == .success else { return nil }
        return grant.withLock { $0 }
    }
}
