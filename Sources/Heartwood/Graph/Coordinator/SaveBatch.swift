/// What one save asks of one store.
final class SaveBatch {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    /// Objects that are not written, and whose rows must be as they were read.
    var checked: [NSManagedObject] = []
    /// Rows of objects that are not in the batch whose derived attributes follow from it; the store says which.
    var derived: [Derived] = []
    let origin: TransactionOrigin
    /// The registered object of a key; for references to objects that this batch inserts.
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
