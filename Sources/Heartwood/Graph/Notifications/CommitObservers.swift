import Foundation
import Synchronization

/// The observers of the commits to a coordinator's stores. They are held weakly.
final class CommitObservers: Sendable {
    private struct Entry: Sendable {
        weak let observer: CommitObserver?
    }

    private let list = Mutex<[Entry]>([])
    private let isAnyHere = Atomic<Bool>(false)

    var isAny: Bool { isAnyHere.load(ordering: .relaxed) }

    func add(_ observer: CommitObserver) {
        let entry = Entry(observer: observer)
        list.withLock { list in
            list.removeAll { $0.observer == nil }
            list.append(entry)
        }
        isAnyHere.store(true, ordering: .relaxed)
    }

    func report(_ store: NSPersistentStore, isForeign: Bool) {
        guard isAny else { return }
        let observers = list.withLock { $0.compactMap(\.observer) }
        for observer in observers { observer.report(store, isForeign) }
    }
}

/// Is told of each commit to a coordinator's stores, as long as somebody holds it.
package final class CommitObserver: Sendable {
    /// The store, and whether another process or coordinator has committed.
    fileprivate let report: @Sendable (NSPersistentStore, _ isForeign: Bool) -> Void

    fileprivate init(_ report: @escaping @Sendable (NSPersistentStore, _ isForeign: Bool) -> Void) { self.report = report }
}

extension NSPersistentStoreCoordinator {
    /// Observes the commits to the stores. A store learns of the commits of others from then on, as with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
    /// - Parameter report: called on any thread, during the commit; one call may stand for several commits of others.
    package final func observeCommits(_ report: @escaping @Sendable (NSPersistentStore, _ isForeign: Bool) -> Void) -> CommitObserver {
        let observer = CommitObserver(report)
        commitObservers.add(observer)
        for store in persistentStores { store.seam.watchIfNeeded() }
        return observer
    }
}

/// Wakes one waiting task. Several calls before the task waits wake it once.
package struct WakeUp: Sendable {
    package let calls: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() { (calls, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    package func call() { continuation.yield() }
}
