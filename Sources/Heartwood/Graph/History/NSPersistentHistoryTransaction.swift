import Foundation

/// What one save, or one commit of a batch request, did to a store. It may cross threads, and outlive its store.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorytransaction
open class NSPersistentHistoryTransaction: NSObject, NSFetchRequestResult, @unchecked Sendable {
    // Unchecked: everything is immutable once it is made; the record below as well.
    private final var made: HistoryRecord?
    private final var content = Content.none
    final var record: HistoryRecord {
        guard let made else { preconditionFailure("\(type(of: self)) was made by the program: it has what its class overrides alone.") }
        return made
    }

    enum Content {
        case none
        case all
        /// Those that a fetch request has asked for.
        case some([HistoryChange])
    }

    /// A transaction of no history, for a subclass of the program's that overrides what is asked of it.
    public override init() {
        super.init()
    }

    convenience init(_ record: HistoryRecord, _ content: Content) {
        self.init()
        made = record
        self.content = content
    }

    /// When it was committed, by the clock of the machine that did it. Where that clock has fallen back by up to five seconds since the transaction
    /// before, the time is just behind that one's; so in ordinary use each transaction of a store is later than the ones before. Where the clock was
    /// further ahead, a transaction is later than some behind it: `transactionNumber` has the order.
    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.timestamp) }

    /// The changes, one for each object, by entity and in the order of their IDs: an object that was inserted and changed in one save was
    /// inserted. nil where the request did not ask for them. They are made each time that this is read.
    /// - Complexity: O(changes).
    open var changes: [NSPersistentHistoryChange]? {
        switch content {
        case .none: return nil
        case .some(let list): return list.map { NSPersistentHistoryChange(record, $0) }
        case .all:
            var list: [NSPersistentHistoryChange] = []
            // What it reads was looked through when the transaction was fetched.
            try? record.forEachChange { list.append(NSPersistentHistoryChange(record, $0)); return true }
            return list
        }
    }

    /// Rises from transaction to transaction of a store, and is never given again while the store tracks its history.
    open var transactionNumber: Int64 { record.number }
    /// The identity of the store (`NSStoreUUIDKey`).
    open var storeID: String { record.source.storeIdentifier }
    /// The identifier of the bundle that made it; the name of the process, where it has none.
    open var bundleID: String { record.bundleID ?? processID }
    /// The name of the process that made it.
    open var processID: String { record.processID ?? "" }
    /// The `name` of the context that made it.
    open var contextName: String? { record.contextName }
    /// The `transactionAuthor` of the context that made it.
    open var author: String? { record.author }
    /// The place behind this transaction, of its store alone.
    open var token: NSPersistentHistoryToken { record.token }

    /// The changes as a notification that `NSManagedObjectContext.mergeChanges(fromContextDidSave:)` takes; its user info is one for
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

    /// What transactions can be asked for by: author, contextName, bundleID, processID, storeID, timestamp, transactionNumber.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

    /// The same one for every context.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }

    /// A request for transactions, new each time: set its predicate, and the whole as a history request's `fetchRequest`.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryEntities.request(HistoryEntities.transaction) }

    // MARK: Comparing

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return made == nil || other.made == nil ? self === other : token == other.token
    }

    open override var hash: Int { made?.number.hashValue ?? ObjectIdentifier(self).hashValue }

    open override var description: String {
        made == nil
            ? "<NSPersistentHistoryTransaction>" : "<NSPersistentHistoryTransaction \(transactionNumber) of \(storeID) at \(timestamp)\(author.map { " by \($0)" } ?? "")>"
    }
}

extension NSPersistentHistoryTransaction: PredicateSubject {
    func predicateValue(forKey key: String) -> Any? {
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
