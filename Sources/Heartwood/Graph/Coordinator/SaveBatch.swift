/// The part of one save that one store writes.
package final class SaveBatch {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    /// Objects that are not written, but whose rows must still have the versions that were read.
    var checked: [NSManagedObject] = []
    /// Changes of derived attributes in rows outside the batch; the store adds them.
    var derived: [Derived] = []
    /// Whether a record log has made a commit of this batch.
    var isCommitted = false
    let origin: TransactionOrigin
    /// Returns the registered object of a key; used for references to objects that this batch inserts.
    let object: (ObjectKey) -> NSManagedObject?

    struct Derived {
        let key: ObjectKey
        let from: UInt32
        let to: UInt32
    }

    init(origin: TransactionOrigin, object: @escaping (ObjectKey) -> NSManagedObject?) {
        self.origin = origin
        self.object = object
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
