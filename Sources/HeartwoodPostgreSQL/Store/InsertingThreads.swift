import Foundation
import Synchronization

/// The threads that insert rows by batch requests, whose handlers run meanwhile.
final class InsertingThreads: Sendable {
    private let threads = Mutex<Set<ObjectIdentifier>>([])

    private var own: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    var isRunning: Bool { threads.withLock { [own] in !$0.isEmpty && $0.contains(own) } }

    func begin() { threads.withLock { [own] in _ = $0.insert(own) } }

    func end() { threads.withLock { [own] in _ = $0.remove(own) } }
}
