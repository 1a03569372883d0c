import Foundation

/// Fetches or deletes the history of stores that track it.
///
/// A store tracks its history if it was added with `NSPersistentHistoryTrackingKey`. Every save and batch request then writes a transaction with
/// its changes, in the same commit as the changes themselves. `NSManagedObjectContext.execute(_:)` returns an `NSPersistentHistoryResult`.
/// - Throws, when it is executed: 134301 (`NSPersistentHistoryTokenExpiredError`) if the token belongs to another history, or if transactions after
///   it were deleted or lost: read the store itself then, and go on from its current token. 134091 if no requested store tracks history, or if a
///   predicate or an order is not supported. 513 for a deletion in a read-only store.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorychangerequest
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest, ExecutableRequest {
    enum Bound {
        case everything
        case date(Date)
        case token(NSPersistentHistoryToken)
    }

    private(set) final var bound = Bound.everything
    private(set) final var isDeletion = false
    /// The contents of the result. A deletion always returns a status.
    open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// The token after which transactions are fetched, or before which they are deleted; nil for the whole history, and for a date.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = bound { token } else { nil }
    }
    /// Selects transactions or changes. Its entity is `NSPersistentHistoryTransaction`'s or `NSPersistentHistoryChange`'s, and its predicate, sort
    /// descriptors, `fetchOffset` and `fetchLimit` apply to members of that entity, after the token or date has been applied. `fetchBatchSize` has
    /// no effect: a transaction creates its changes when they are read.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// Creates a request for the whole history.
    public required override init() {
        super.init()
    }

    private class func made(_ bound: Bound, isDeletion: Bool = false) -> Self {
        let request = Self()
        request.bound = bound
        request.isDeletion = isDeletion
        if isDeletion { request.resultType = .statusOnly }
        return request
    }

    open override var requestType: NSPersistentStoreRequestType { .persistentHistoryRequestType }

    // MARK: Fetching

    /// Fetches the transactions later than a date; those of one store come in the order of their numbers. Finding the first one takes O(log n), and
    /// as much again for each time that the clock fell back by more than five seconds. Transactions before the 64th last fall are scanned.
    public class func fetchHistory(after date: Date) -> Self { made(.date(date)) }

    /// Fetches the transactions after a token, or all of them for nil. Finding the first one takes O(1).
    public class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        made(token.map(Bound.token) ?? .everything)
    }

    /// Fetches the transactions after this one in its store, and all of other stores; nil fetches everything.
    public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        fetchHistory(after: transaction?.token)
    }

    /// Fetches the transactions or changes that a fetch request describes (see `fetchRequest`).
    public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = made(.everything)
        request.fetchRequest = fetchRequest
        return request
    }

    /// The same for another result type, which is a different class except on Apple's platforms.
    public class func fetchHistory<ResultType: NSFetchRequestResult>(
        withFetch fetchRequest: NSFetchRequest<ResultType>
    ) -> Self {
        fetchHistory(withFetch: fetchRequest.duplicate(as: (any NSFetchRequestResult).self))
    }

    // MARK: Deleting

    /// Deletes the transactions earlier than a date, in commits of a few thousand each. O(transactions deleted). A transaction whose clock was far
    /// ahead has a later time: it stays although transactions after it are deleted.
    public class func deleteHistory(before date: Date) -> Self {
        made(.date(date), isDeletion: true)
    }

    /// Deletes the transactions before a token's own, which stays. nil deletes nothing.
    public class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        made(.token(token ?? NSPersistentHistoryToken([:])), isDeletion: true)
    }

    /// Deletes the transactions before this one, in its store. nil deletes nothing.
    public class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        deleteHistory(before: transaction?.token)
    }

    final func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        do {
            return try HistoryExecution(self, context).run()
        } catch {
            throw RecordLogErrors.wrapIfOfEngine(error)
        }
    }
}
