import Foundation

extension NSManagedObjectContext {
    /// Implements `obtainPermanentIDs(for:)`.
    final func givePermanentIDs(to objects: [NSManagedObject]) throws {
        checkQueue("obtainPermanentIDs(for:)")
        adoptKeys()
        var wanted: [(key: ObjectKey, object: NSManagedObject)] = []
        for object in objects where object.managedObjectContext === self && object.key.isTemporary {
            wanted.append((object.key, object))
        }
        guard !wanted.isEmpty else { return }
        try reserve(wanted)
        adoptKeys()
        // Without children no other context has the old names.
        if parentContext == nil { tree.dropIfAlone() }
    }

    private func reserve(_ wanted: [(key: ObjectKey, object: NSManagedObject)]) throws {
        guard parentContext == nil else { return try askParent { try $0.reserve(wanted) } }
        var seen: Set<ObjectKey> = []
        var stores: [(store: NSPersistentStore, objects: [(key: ObjectKey, object: NSManagedObject, runtime: EntityRuntime)])] = []
        for (key, object) in wanted where currentKey(key) == key && seen.insert(key).inserted {
            // The runtime of this context's own object takes precedence, because it may have an assigned store. The coordinator is asked if
            // the store was added after the insertion.
            let known = identities[key]?.runtime ?? object.runtime
            guard let runtime = known.store == nil ? coordinator?.runtime(for: object.entity) : known, let store = runtime.store else {
                throw CoreDataError.noStore(for: object.entity)
            }
            if let known = stores.firstIndex(where: { $0.store === store }) {
                stores[known].objects.append((key, object, runtime))
            } else {
                stores.append((store, [(key, object, runtime)]))
            }
        }
        var renames: [(ObjectKey, ObjectKey)] = []
        for (store, objects) in stores {
            try store.seam.checkWritable()
            renames += zip(objects.map(\.key), try store.seam.reserveRows(for: objects.map { ($0.object, $0.runtime) }))
        }
        for (old, new) in renames { tree.rename(old, to: new) }
        adoptKeys()
    }
}
