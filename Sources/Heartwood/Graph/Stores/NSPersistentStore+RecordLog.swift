import Foundation
import RecordLog

extension NSPersistentStore {
    /// The engine's handle, for features of record logs; nil for other stores, and after the store was removed.
    package var recordLog: LogStore? { ownLog?.log }

    /// The damage that limits a store added with `NSRecordLogAcceptsDamageOption`: it shows only the data before that. nil if adding it found no
    /// damage. It is the error that adding the store without the option would have thrown.
    public final var damage: NSError? { recordLog?.damage.map { RecordLogErrors.wrap($0, opening: true) } }
}

extension IdentifyingStore {
    /// The row of a permanent key of this store.
    func rowReference(_ key: ObjectKey) -> RowReference { RowReference(rawValue: key.rawValue &- slotBase) }
}

extension NSManagedObjectID {
    /// The object's row in its record log; nil for a temporary ID, and after the store was removed.
    package final var rowReference: RowReference? {
        guard !key.isTemporary, let holder else { return nil }
        return holder.rowReference(key)
    }
}
