import Foundation
import Synchronization

/// A commit to a store, or several in quick succession.
public struct RemoteChange: Sendable {
    /// `NSPersistentStore.identifier`.
    public let storeIdentifier: String
    public let storeURL: URL?
    /// The position after the commit; nil for a store without a history.
    public let historyToken: NSPersistentHistoryToken?
}

/// The commits to a coordinator's stores, by this process and by others.
///
/// It reports the same commits as `NSPersistentStoreRemoteChange`, without a store option. Several commits to one store between two calls of `next()`
/// become one element. The sequence has no end; the loop ends when its task is cancelled.
public struct RemoteChangeSequence: AsyncSequence, Sendable {
    public typealias Failure = Never

    let coordinator: NSPersistentStoreCoordinator

    public func makeAsyncIterator() -> Iterator { Iterator(coordinator) }

    public struct Iterator: AsyncIteratorProtocol {
        private let waiting = WaitingChanges()
        private let observer: CommitObserver
        private var calls: AsyncStream<Void>.Iterator

        fileprivate init(_ coordinator: NSPersistentStoreCoordinator) {
            let waiting = waiting
            observer = coordinator.observeCommits { store, _ in waiting.note(store) }
            calls = waiting.wakeUp.calls.makeAsyncIterator()
        }

        /// - Returns: nil where the task was cancelled.
        public mutating func next() async -> RemoteChange? {
            while true {
                if let change = waiting.take() { return change }
                guard await calls.next() != nil else { return nil }
            }
        }
    }
}

/// The newest change of each store since the iterator took the one before. The store that changed first comes first.
private final class WaitingChanges: Sendable {
    let wakeUp = WakeUp()
    private let changes = Mutex<[RemoteChange]>([])

    func note(_ store: NSPersistentStore) {
        let change = RemoteChange(storeIdentifier: store.identifier ?? "", storeURL: store.url, historyToken: store.newestToken)
        changes.withLock { changes in
            if let index = changes.firstIndex(where: { $0.storeIdentifier == change.storeIdentifier }) {
                changes[index] = change
            } else {
                changes.append(change)
            }
        }
        wakeUp.call()
    }

    func take() -> RemoteChange? { changes.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

extension NSPersistentStoreCoordinator {
    /// The commits to the stores; see `RemoteChangeSequence`.
    public final var remoteChanges: RemoteChangeSequence { RemoteChangeSequence(coordinator: self) }
}
