import Foundation

/// The changes of one save, or of one commit of a batch request, to a store. It may cross threads, and outlive its store.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorytransaction
open class NSPersistentHistoryTransaction: NSObject, NSFetchRequestResult, @unchecked Sendable {
    // Unchecked: all properties, and the record, are immutable after initialisation.
    private final var made: HistoryRecord?
    private final var content = Content.none
    final var record: HistoryRecord {
        guard let made else {
            misuse("\(type(of: self)) was made by the program, so it has only the properties that its class overrides.")
        }
        return made
    }

    enum Content {
        case none
        case all
        /// The changes that a fetch request selected.
        case some([HistoryChange])
    }

    /// Creates a transaction that belongs to no history. A subclass overrides the properties it needs.
    public override init() {
        super.init()
    }

    convenience init(_ record: HistoryRecord, _ content: Content) {
        self.init()
        made = record
        self.content = content
    }

    /// The time of the commit, by the clock of the machine that made it. Where that clock fell back by up to five seconds since the transaction
    /// before, the time is just after that transaction's; so in ordinary use the times of a store's transactions rise. Where the clock was further
    /// ahead, a transaction may be later than some after it: `transactionNumber` gives the order.
    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.timestamp) }

    /// The changes, one for each object, by entity and in the order of their IDs; nil if the request did not ask for them. An object that one save
    /// inserted and changed counts as inserted. Each read creates them anew.
    /// - Complexity: O(changes).
    open var changes: [NSPersistentHistoryChange]? {
        switch content {
        case .none: return nil
        case .some(let list): return list.map { NSPersistentHistoryChange(record, $0) }
        case .all:
            var list: [NSPersistentHistoryChange] = []
            // This read cannot fail: the changes were checked when the transaction was fetched.
            try? record.forEachChange { list.append(NSPersistentHistoryChange(record, $0)); return true }
            return list
        }
    }

    /// Rises from transaction to transaction of a store, and is never reused while the store tracks its history.
    open var transactionNumber: Int64 { record.number }
    /// The store's identifier (`NSStoreUUIDKey`).
    open var storeID: String { record.source.storeIdentifier }
    /// The identifier of the bundle that made it; the name of the process, if that has none.
    open var bundleID: String { record.bundleID ?? processID }
    /// The name of the process that made it.
    open var processID: String { record.processID ?? "" }
    /// The `name` of the context that made it.
    open var contextName: String? { record.contextName }
    /// The `transactionAuthor` of the context that made it.
    open var author: String? { record.author }
    /// The position after this transaction, in its store only.
    open var token: NSPersistentHistoryToken { record.token }

    /// Returns the changes as a notification that `NSManagedObjectContext.mergeChanges(fromContextDidSave:)` accepts. Its user info suits
    /// `mergeChanges(fromRemoteContextSave:into:)`.
    open func objectIDNotification() -> Notification {
        var ids: [NSPersistentHistoryChangeType: Set<NSManagedObjectID>] = [:]
        let all = made.map { NSPersistentHistoryTransaction($0, .all) } ?? self
        for change in all.changes ?? [] {
            ids[change.changeType, default: []].insert(change.changedObjectID)
        }
        var info: [AnyHashable: Any] = [:]
        info[NSInsertedObjectIDsKey] = ids[.insert]
        info[NSUpdatedObjectIDsKey] = ids[.update]
        info[NSDeletedObjectIDsKey] = ids[.delete]
        return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: self, userInfo: info)
    }

    // MARK: Asking for transactions

    /// The entity that predicates on transactions use. Its properties are author, contextName, bundleID, processID, storeID, timestamp and
    /// transactionNumber.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

    /// The entity does not depend on the context.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }

    /// A new request for transactions. Set its predicate, then assign it to a history request's `fetchRequest`.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryEntities.request(HistoryEntities.transaction) }

    // MARK: Comparing

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return made == nil || other.made == nil ? self === other : token == other.token
    }

    open override var hash: Int { made?.number.hashValue ?? ObjectIdentifier(self).hashValue }

    open override var description: String {
        made == nil
            ? "<NSPersistentHistoryTransaction>"
            : "<NSPersistentHistoryTransaction \(transactionNumber) of \(storeID) at \(timestamp)\(author.map { " by \($0)" } ?? "")>"
    }
}

extension NSPersistentHistoryTransaction: PredicateSubject {
    package func predicateValue(forKey key: String) -> Any? {
        switch key {
        case "author": author
        case "contextName": contextName
        case "bundleID": bundleID
        case "processID": processID
        case "storeID": storeID
        case "timestamp": timestamp
        case "transactionNumber": transactionNumber
        case "token": token
        case "changes": NSPersistentHistoryTransaction(record, .all).changes
        default: nil
        }
    }
}
