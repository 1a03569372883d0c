import HeartwoodPredicateClasses
import Synchronization

/// A store class of a target above this one, which is found by its name: a program may do without the target.
final class StoreClassAbove: Sendable {
    private let name: String
    private let type: String
    private let known = Mutex<NSPersistentStore.Type?>(nil)

    /// - Parameters:
    ///   - name: of the class, behind that of its module.
    ///   - type: of its stores.
    init(name: String, type: String) {
        (self.name, self.type) = (name, type)
    }

    /// The class; nil in a program without the target. The first look takes the runtime 0.2 ms.
    var found: NSPersistentStore.Type? {
        known.withLock { known in
            if known == nil { known = ClassNames.type(name) as? NSPersistentStore.Type }
            return known
        }
    }

    /// - Throws: 134000 in a program without the target.
    func storeClass() throws -> NSPersistentStore.Type {
        if let found { return found }
        throw CoreDataError.make(
            NSPersistentStoreInvalidTypeError,
            "The program has no class for stores of the type \"\(type)\": it was built with the product HeartwoodCore. Depend on the product "
                + "Heartwood in its place; its module has the same name. Or make a record log of the store, with the command `heartwood convert`.")
    }
}
