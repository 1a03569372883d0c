import Foundation

/// The transactions after a token in the histories of the stores. The sequence gives those that exist, and then each one that this process or another
/// commits.
///
/// Keep the `token` of the sequence's iterator, or that of the last transaction of a single store, to go on from there. The sequence has no end; the
/// loop's task ends it by its cancellation.
/// ```swift
/// for try await transaction in coordinator.history(after: token) { merge(transaction) }
/// ```
public struct HistorySequence: AsyncSequence, Sendable {
    public typealias Element = NSPersistentHistoryTransaction

    let coordinator: NSPersistentStoreCoordinator
    let token: NSPersistentHistoryToken?

    public func makeAsyncIterator() -> Iterator { Iterator(coordinator, token) }

    public struct Iterator: AsyncIteratorProtocol {
        /// The position after the last transaction of each store that `next()` has returned.
        public private(set) var token: NSPersistentHistoryToken?
        private let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        private let observer: CommitObserver
        private var calls: AsyncStream<Void>.Iterator
        private var waiting: ArraySlice<NSPersistentHistoryTransaction> = []

        /// The number of transactions that are read at a time; their changes stay in the store until they are asked for.
        private static let readAtOnce = 256

        fileprivate init(_ coordinator: NSPersistentStoreCoordinator, _ token: NSPersistentHistoryToken?) {
            self.token = token
            context.persistentStoreCoordinator = coordinator
            let wakeUp = WakeUp()
            observer = coordinator.observeCommits { _, _ in wakeUp.call() }
            calls = wakeUp.calls.makeAsyncIterator()
        }

        /// - Returns: nil where the task was cancelled.
        /// - Throws: 134301 where transactions after the token are gone; 134091 where no store has a history.
        public mutating func next() async throws -> NSPersistentHistoryTransaction? {
            while waiting.isEmpty {
                // Read first: what is committed after that calls.
                waiting = try await read()[...]
                if waiting.isEmpty, await calls.next() == nil { return nil }
            }
            guard let transaction = waiting.popFirst() else { return nil }
            token = NSPersistentHistoryToken((token?.positions ?? [:]).merging(transaction.token.positions) { $1 })
            return transaction
        }

        private func read() async throws -> [NSPersistentHistoryTransaction] {
            let context = context, token = token
            return try await context.perform {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
                request.fetchRequest?.fetchLimit = Self.readAtOnce
                return (try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
            }
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// The transactions after a token, or from the first on for nil; see `HistorySequence`.
    public final func history(after token: NSPersistentHistoryToken? = nil) -> HistorySequence { HistorySequence(coordinator: self, token: token) }
}
