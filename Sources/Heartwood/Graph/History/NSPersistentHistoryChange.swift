import Foundation

/// What a transaction did to an object.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorychangetype
public enum NSPersistentHistoryChangeType: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}

/// What one transaction did to one object. It may cross threads, and outlive its store.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorychange
open class NSPersistentHistoryChange: NSObject, NSFetchRequestResult, @unchecked Sendable {
    // Unchecked: everything is immutable once it is made.
    private final var made: (record: HistoryRecord, change: HistoryChange)?
    private final var record: HistoryRecord { parts.record }
    private final var change: HistoryChange { parts.change }

    private final var parts: (record: HistoryRecord, change: HistoryChange) {
        guard let made else { preconditionFailure("\(type(of: self)) was made by the program: it has what its class overrides alone.") }
        return made
    }

    /// A change of no history, for a subclass of the program's that overrides what is asked of it.
    public override init() {
        super.init()
    }

    convenience init(_ record: HistoryRecord, _ change: HistoryChange) {
        self.init()
        made = (record, change)
    }

    /// Rises from change to change of a store, and is never given again while the store tracks its history: the transaction's number
    /// in the high 32 bits, the change's place in it from 1 in the low ones.
    open var changeID: Int64 { record.number << 32 | change.place }
    /// The object; it need not be there any more.
    open var changedObjectID: NSManagedObjectID {
        NSManagedObjectID(entity: change.entity, key: record.source.key(change.reference), store: record.source.store, contextToken: 0)
    }
    open var changeType: NSPersistentHistoryChangeType { change.type }
    /// Of a deletion: what the object had in attributes whose `preservesValueInHistoryOnDeletion` is set, by their names; nil where none of
    /// them had a value.
    open var tombstone: [AnyHashable: Any]? { change.tombstone }
    /// Of an update: the attributes and to-one relationships whose values are others than before, derived ones among them, and the to-many
    /// relationships whose members, or whose order, are; of a batch update those that it was to update. What the model does not have any
    /// more is left out.
    open var updatedProperties: Set<NSPropertyDescription>? { change.type == .update ? change.updatedProperties : nil }
    /// The transaction, with all of its changes.
    open var transaction: NSPersistentHistoryTransaction? { NSPersistentHistoryTransaction(record, .all) }

    // MARK: Asking for changes

    /// What changes can be asked for by: changeID, changeType, changedObjectID, changedEntity (a name), and of their transactions by key
    /// paths like `transaction.author`.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.change }

    /// The same one for every context.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }

    /// A request for changes, new each time: set its predicate, and the whole as a history request's `fetchRequest`.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryEntities.request(HistoryEntities.change) }

    // MARK: Comparing

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        guard made != nil, other.made != nil else { return self === other }
        return changeID == other.changeID && record.token == other.record.token
    }

    open override var hash: Int { made == nil ? ObjectIdentifier(self).hashValue : changeID.hashValue }

    open override var description: String {
        made == nil ? "<NSPersistentHistoryChange>" : "<NSPersistentHistoryChange \(changeID): \(changeType) of \(changedObjectID.uriRepresentation().absoluteString)>"
    }
}

extension NSPersistentHistoryChange: PredicateSubject {
    func predicateValue(forKey key: String) -> Any? {
        switch key {
        case "changeID": changeID
        case "changeType": changeType.rawValue
        case "changedObjectID": changedObjectID
        case "changedEntity": changedObjectID.entity.name
        case "transaction": transaction
        default: nil
        }
    }
}
