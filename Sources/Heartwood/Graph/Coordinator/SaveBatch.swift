/// The part of one save that one store writes.
package final class SaveBatch {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    /// Objects that are not written, but whose rows must still have the versions that were read.
    var checked: [NSManagedObject] = []
    /// Changes of derived attributes in rows outside the batch; the store adds them.
    var derived: [Derived] = []
    /// Whether a store that tells of commits has made one of this batch.
    package var isCommitted = false
    package let origin: TransactionOrigin
    /// Returns the registered object of a key; used for references to objects that this batch inserts.
    let object: (ObjectKey) -> NSManagedObject?
    /// The context that saves, which outlives the batch; nil for a batch that writes metadata only.
    private unowned(unsafe) let context: NSManagedObjectContext?

    struct Derived {
        let key: ObjectKey
        let from: UInt32
        let to: UInt32
    }

    init(origin: TransactionOrigin, context: NSManagedObjectContext? = nil, object: @escaping (ObjectKey) -> NSManagedObject?) {
        self.origin = origin
        self.context = context
        self.object = object
    }

    /// The view by which the saving context reads the store. A store whose views copy rows keeps the saved rows there, under their new versions: the
    /// context's objects show them, also once others have saved.
    package func view(of store: NSPersistentStore) throws -> (any StoreView)? { try context?.view(of: store) }

    /// Whether the context has a merge policy that resolves conflicts, so that it likely meets some.
    package var expectsConflicts: Bool { context.map { $0.policy.mergeType != .errorMergePolicyType } ?? false }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
