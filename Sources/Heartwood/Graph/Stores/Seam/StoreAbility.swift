import Foundation

/// An ability that only some stores have. It makes the error for a store that lacks it.
package enum StoreAbility {
    case batches, changingFiles, compaction, deletingHistory, derivation, givingIDsEarly, history, plans

    /// The error for a store of a class that the stack cannot use.
    package static func none(of storeClass: NSPersistentStore.Type) -> NSError {
        CoreDataError.make(
            NSPersistentStoreInvalidTypeError,
            "\(storeClass) cannot be added: a store of your own is a subclass of NSAtomicStore or NSIncrementalStore.")
    }

    package func missing(in store: NSPersistentStore) -> NSError {
        let type = store.type
        return switch self {
        case .batches:
            CoreDataError.unsupported(
                "A store of the type \(type) knows no batch requests; fetch the objects, change them and save, or use a record log.")
        case .changingFiles:
            CoreDataError.make(NSPersistentStoreOperationError, "A store of the type \(type) cannot be moved while it is loaded.")
        case .compaction:
            CoreDataError.make(NSPersistentStoreOperationError, "Only a record log can be compacted; this store is \(type).")
        case .deletingHistory:
            CoreDataError.unsupported("A store of the type \(type) deletes no transactions of its history.")
        case .derivation:
            CoreDataError.unsupported("A store of the type \(type) computes no derived attributes; the model has some. Use a record log.")
        case .givingIDsEarly:
            CoreDataError.unsupported("A store of the type \(type) gives permanent IDs when it saves only; save the objects first.")
        case .history:
            CoreDataError.unsupported("\(store.url?.path ?? type): the store tracks no history.")
        case .plans:
            CoreDataError.unsupported("A store of the type \(type) does not report its query plans.")
        }
    }
}
