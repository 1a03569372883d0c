import Foundation

/// Errors that name a store or an object.
extension CoreDataError {
    static func sameStore(_ store: NSPersistentStore, _ other: NSPersistentStore) -> NSError {
        let path = store.url?.path ?? "?"
        return make(
            NSPersistentStoreOperationError,
            "The store at \(path) is the one that was added from \(other.url?.path ?? "?") already, or a copy of its file. Remove that one "
                + "first, or add this one to another coordinator.",
            [NSAffectedStoresErrorKey: [other], NSFilePathErrorKey: path])
    }

    static func noStore(toSave object: NSManagedObject) -> NSError {
        make(
            NSPersistentStoreSaveError,
            "Nothing was saved: no persistent store of the coordinator holds the entity \(object.entity.name ?? "?"). Add one "
                + "(loadPersistentStores or addPersistentStore) and save again; the context keeps its changes.",
            [NSAffectedObjectsErrorKey: [object]])
    }

    static func foreignDestination(of object: NSManagedObject, _ property: Int) -> NSError {
        make(
            NSManagedObjectExternalRelationshipError,
            "\(object.entity.name ?? "?").\(object.runtime.properties[property].name) points at an object that this store does "
                + "not hold; relationships do not cross stores, and the object must be inserted in the same context.",
            [NSAffectedObjectsErrorKey: [object]])
    }
}
