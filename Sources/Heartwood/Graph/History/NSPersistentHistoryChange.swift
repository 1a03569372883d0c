import Foundation

/// The kind of a change.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorychangetype
public enum NSPersistentHistoryChangeType: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}

/// A change that one transaction made to one object. It may cross threads, and outlive its store.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorychange
open class NSPersistentHistoryChange: NSObject, NSFetchRequestResult, @unchecked Sendable {
    // Unchecked: all properties are immutable after initialisation.
    private final var made: (record: HistoryRecord, change: HistoryChange)?
    private final var record: HistoryRecord { parts.record }
    private final var change: HistoryChange { parts.change }

    private final var parts: (record: HistoryRecord, change: HistoryChange) {
        guard let made else {
            misuse("\(type(of: self)) was made by the program, so it has only the properties that its class overrides.")
        }
        return made
    }

    /// Creates a change that belongs to no history. A subclass overrides the properties it needs.
    public override init() {
        super.init()
    }

    convenience init(_ record: HistoryRecord, _ change: HistoryChange) {
        self.init()
        made = (record, change)
    }

    /// The transaction's number in the high 32 bits, and the change's position in it, from 1, in the low ones. It rises from change to change of a
    /// store and is never reused while the store tracks its history. In an SQLite store it is the number that Core Data gave.
    open var changeID: Int64 { record.changeID(change) }
    /// The changed object, which may have been deleted since.
    open var changedObjectID: NSManagedObjectID {
        NSManagedObjectID(entity: change.entity, key: record.source.key(change.reference), store: record.source.store, contextToken: 0)
    }
    open var changeType: NSPersistentHistoryChangeType { change.type }
    /// For a deletion: the object's values of the attributes whose `preservesValueInHistoryOnDeletion` is set, by name; nil where none of them had
    /// a value.
    open var tombstone: [AnyHashable: Any]? { change.tombstone }
    /// For an update: the attributes and to-one relationships whose values changed, derived attributes among them, and the to-many relationships
    /// whose members or order changed. For a batch update: the properties that it set. Properties that the current model lacks are left out.
    open var updatedProperties: Set<NSPropertyDescription>? { change.type == .update ? change.updatedProperties : nil }
    /// The transaction, with all of its changes.
    open var transaction: NSPersistentHistoryTransaction? { NSPersistentHistoryTransaction(record, .all) }

    // MARK: Asking for changes

    /// The entity that predicates on changes use. Its properties are changeID, changeType, changedObjectID and changedEntity (a name); key paths
    /// like `transaction.author` lead to the transaction's.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.change }

    /// The entity does not depend on the context.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }

    /// A new request for changes. Set its predicate, then assign it to a history request's `fetchRequest`.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryEntities.request(HistoryEntities.change) }

    // MARK: Comparing

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        guard made != nil, other.made != nil else { return self === other }
        return changeID == other.changeID && record.token == other.record.token
    }

    open override var hash: Int { made == nil ? ObjectIdentifier(self).hashValue : changeID.hashValue }

    open override var description: String {
        made == nil ? "<NSPersistentHistoryChange>"
            : "<NSPersistentHistoryChange \(changeID): \(changeType) of \(changedObjectID.uriRepresentation().absoluteString)>"
    }
}

extension NSPersistentHistoryChange: PredicateSubject {
    package func predicateValue(forKey key: String) -> Any? {
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
