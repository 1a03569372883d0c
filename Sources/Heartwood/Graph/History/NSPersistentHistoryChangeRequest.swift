import Foundation

/// Asks stores that track history for what has happened to them, or to forget what is old.
///
/// A store tracks history where it was added with `NSPersistentHistoryTrackingKey`: then every save and batch request leaves a transaction
/// with its changes, written in the commit that it tells of. `NSManagedObjectContext.execute(_:)` gives an `NSPersistentHistoryResult`.
/// - Throws, when it is executed: 134301 (`NSPersistentHistoryTokenExpiredError`) where what came behind the token was deleted in part, or
///   is lost, or the token is of another history: read the store itself then, and go on from its current token. 134091 where no store that
///   is asked tracks history, and for a predicate or an order that cannot be asked; 513 for a deletion in a read-only store.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorychangerequest
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest, ExecutableRequest {
    enum Bound {
        case everything
        case date(Date)
        case token(NSPersistentHistoryToken)
    }

    private(set) final var bound = Bound.everything
    private(set) final var isDeletion = false
    /// What the result has. A deletion has a status alone.
    open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// Where the history begins that is asked for, or up to which it is to be deleted; nil for all of it, and for a date.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = bound { token } else { nil }
    }
    /// Which transactions, or which changes, are asked for: its entity is `NSPersistentHistoryTransaction`'s or
    /// `NSPersistentHistoryChange`'s. Its predicate, sort descriptors, `fetchOffset` and `fetchLimit` hold for what that is an entity of;
    /// they come behind the token or date. Whatever `fetchBatchSize` is, a transaction's changes are made when they are asked for.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// A request for all of the history.
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

    /// The transactions later than a date, a store's in the order of their numbers. O(log n) to find the first one; the same again for each
    /// time that the clock fell back by more than five seconds. Those before the 64th last fall are looked through one by one.
    public class func fetchHistory(after date: Date) -> Self { made(.date(date)) }

    /// The transactions behind a token; nil for all that there are. O(1) to find the first one.
    public class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        made(token.map(Bound.token) ?? .everything)
    }

    /// The transactions behind one of its store, and all of other stores; nil for all that there are.
    public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        fetchHistory(after: transaction?.token)
    }

    /// The transactions or changes that a fetch request describes (see `fetchRequest`).
    public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = made(.everything)
        request.fetchRequest = fetchRequest
        return request
    }

    /// The same for a request of another type, which off Apple's platforms is another class.
    public class func fetchHistory<ResultType: NSFetchRequestResult>(
        withFetch fetchRequest: NSFetchRequest<ResultType>
    ) -> Self {
        fetchHistory(withFetch: fetchRequest.twin(as: (any NSFetchRequestResult).self))
    }

    // MARK: Deleting

    /// Deletes the transactions earlier than a date. O(transactions deleted), in commits of some thousand each. A transaction that was
    /// made under a clock far ahead has a later time: it stays where those behind it go.
    public class func deleteHistory(before date: Date) -> Self {
        made(.date(date), isDeletion: true)
    }

    /// Deletes the transactions before the one behind which a token is; that one stays. nil deletes nothing.
    public class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        made(.token(token ?? NSPersistentHistoryToken([:])), isDeletion: true)
    }

    /// Deletes the transactions before one, in its store. nil deletes nothing.
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
