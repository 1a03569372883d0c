import Synchronization

/// Work that ends once, and threads that wait for its end.
///
/// Invariants:
/// 1. What the work has written before `finish` is seen by every thread once `isFinished` is true or `wait` has returned.
/// 2. `begin` and `finish` are called by one thread at a time; any thread may wait.
final class Completion: Sendable {
    private let finished: Atomic<Bool>
    private let condition = WaitCondition()

    init(isFinished: Bool = false) {
        finished = Atomic(isFinished)
    }

    var isFinished: Bool { finished.load(ordering: .acquiring) }

    /// Has threads wait from now on.
    func begin() { finished.store(false, ordering: .releasing) }

    func finish() {
        condition.change { finished.store(true, ordering: .releasing) }
    }

    /// Returns once the work has ended.
    func wait() { condition.wait { isFinished } }

    /// Returns once the work has ended, or after about so many milliseconds.
    func wait(atMost milliseconds: Int) { condition.wait(atMost: milliseconds) { isFinished } }
}
