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

    func begin() { change { $0.insert($1).inserted ? 1 : 0 } }

    func end() { change { $0.remove($1) == nil ? 0 : -1 } }

    private func change(_ body: (inout Set<ObjectIdentifier>, ObjectIdentifier) -> Int) {
        let own = own
        let difference = threads.withLock { body(&$0, own) }
        count.add(difference, ordering: .relaxed)
    }
}
