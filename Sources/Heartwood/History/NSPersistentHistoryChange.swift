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
public final class NSPersistentHistoryChange: NSObject, NSFetchRequestResult, @unchecked Sendable {
    // Unchecked: everything is immutable.
    private let record: HistoryRecord
    private let change: HistoryChange

    init(_ record: HistoryRecord, _ change: HistoryChange) {
        self.record = record
        self.change = change
    }

    /// Rises from change to change of a store, and is never given again while the store tracks its history: the transaction's number
    /// in the high 32 bits, the change's place in it from 1 in the low ones.
    public var changeID: Int64 { record.number << 32 | change.place }
    /// The object; it need not be there any more.
    public var changedObjectID: NSManagedObjectID {
        NSManagedObjectID(entity: change.entity, key: record.source.key(change.reference), store: record.source.store, contextToken: 0)
    }
    public var changeType: NSPersistentHistoryChangeType { change.type }
    /// Of a deletion: what the object had in attributes whose `preservesValueInHistoryOnDeletion` is set, by their names; nil where none of
    /// them had a value.
    public var tombstone: [AnyHashable: Any]? { change.tombstone }
    /// Of an update: the attributes and to-one relationships whose values are others than before, derived ones among them, and the to-many
    /// relationships whose members, or whose order, are; of a batch update those that it was to update. What the model does not have any
    /// more is left out.
    public var updatedProperties: Set<NSPropertyDescription>? { change.type == .update ? change.updatedProperties : nil }
    /// The transaction, with all of its changes.
    public var transaction: NSPersistentHistoryTransaction? { NSPersistentHistoryTransaction(record, .all) }

    // MARK: Asking for changes

    /// What changes can be asked for by: changeID, changeType, changedObjectID, changedEntity (a name), and of their transactions by key
    /// paths like `transaction.author`.
    public class var entityDescription: NSEntityDescription? { HistoryEntities.change }

    /// The same one for every context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }

    /// A request for changes, new each time: set its predicate, and the whole as a history request's `fetchRequest`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryEntities.request(HistoryEntities.change) }

    // MARK: Comparing

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return changeID == other.changeID && record.token == other.record.token
    }

    public override var hash: Int { changeID.hashValue }

    public override var description: String {
        "<NSPersistentHistoryChange \(changeID): \(changeType) of \(changedObjectID.uriRepresentation().absoluteString)>"
    }
}

extension NSPersistentHistoryChange: PredicateSubject {
    func predicateValue(forKey key: String) -> Any? {
        switch key {
        case "changeID": changeID
        case "changeType": changeType.rawValue
        case "changedObjectID": changedObjectID
        case "changedEntity": change.entity.name
        case "transaction": transaction
        default: nil
        }
    }
}
