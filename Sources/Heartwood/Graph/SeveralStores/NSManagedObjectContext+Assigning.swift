import Foundation

extension NSManagedObjectContext {
    /// Sets the store to which the next save writes an inserted object. The default is the first writable store added that holds the object's
    /// entity.
    ///
    /// A child context passes the choice on with the object's insertion.
    /// - Precondition: the object is inserted in this context and has no permanent ID; the store belongs to the context's coordinator, holds the
    ///   object's entity (by its configuration), and is writable. An object's present store is always allowed.
    public final func assign(_ object: Any, to store: NSPersistentStore) {
        checkQueue()
        guard let object = object as? NSManagedObject else {
            misuse("An NSManagedObject is assigned to a store, not a \(type(of: object)).")
        }
        demand(
            object.managedObjectContext === self, "An object is assigned to a store in the context that it was inserted into.")
        guard object.runtime.store !== store else { return }
        demand(
            object.isInserted && object.key.isTemporary,
            "Can't reassign an object to a different store once it has been saved, or has its permanent ID: insert a new object into that "
                + "store, copy the values, and delete this one.")
        let name = object.entity.name ?? "?"
        guard let runtime = runtimes(of: object.entity).first(where: { $0.store === store }) else {
            misuse(
                store.persistentStoreCoordinator === coordinator
                    ? "Can't assign an object to a store that does not contain the object's entity: the store at \(store.location) does not "
                        + "hold \(name); its configuration is \(store.configuration.map { "\"\($0)\"" } ?? "the default one")."
                    : "Can't assign an object to a store of another coordinator: add the store at \(store.location) to this one.")
        }
        demand(
            !store.isReadOnly,
            "Can't assign an object to a read-only store: \(store.location) was added with NSReadOnlyPersistentStoreOption.")
        object.entityInContext = entity(of: runtime)
    }

    /// The entity's runtime in each store that holds it, or the provisional runtime of its objects if no store does.
    final func runtimes(of entity: NSEntityDescription) -> [EntityRuntime] {
        let found = coordinator?.runtimes(of: entity) ?? []
        return found.isEmpty ? [runtime(for: entity)] : found
    }

    /// The runtime for new rows of an entity.
    /// - Parameter stores: the stores to choose from; nil for all.
    final func runtime(forInserting entity: NSEntityDescription, into stores: [NSPersistentStore]?) -> EntityRuntime? {
        guard let stores else { return runtime(for: entity) }
        let asked = runtimes(of: entity).filter { runtime in stores.contains { $0 === runtime.store } }
        return asked.first { $0.store?.isReadOnly == false } ?? asked.first
    }
}

extension NSPersistentStore {
    /// The location of the store, for messages.
    final var location: String { url?.path ?? identifier }
}
