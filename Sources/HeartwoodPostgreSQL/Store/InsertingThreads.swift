import Foundation
import Synchronization

/// The threads that insert rows by batch requests, whose handlers run meanwhile.
final class InsertingThreads: Sendable {
    private let threads = Mutex<Set<ObjectIdentifier>>([])
    /// Each save and each read asks first whether there are any: `Thread.current` behind a lock was 2 % of a save.
    private let count = Atomic(0)

    private var own: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    // A thread sees what it has done itself in any memory order.
    var isRunning: Bool { count.load(ordering: .relaxed) > 0 && threads.withLock { [own] in $0.contains(own) } }

    func begin() { change { [own] in _ = $0.insert(own) } }

    func end() { change { [own] in _ = $0.remove(own) } }

    private func change(_ body: (inout Set<ObjectIdentifier>) -> Void) {
        threads.withLock { threads in
            body(&threads)
            count.store(threads.count, ordering: .relaxed)
        }
    }
}
