import Foundation

extension NSManagedObjectContext {
    /// Rejects a save with a relationship from one store to another: nothing is saved then.
    /// - Throws: 133010, with the object, the relationship, the destination and both stores.
    final func checkReferencesAcrossStores() throws {
        guard let coordinator, coordinator.persistentStores.count > 1 else { return }
        // To-one sides first: their errors name both ends best.
        for isToMany in [false, true] {
            for object in pending.listed where !object.isDeleted {
                guard let values = object.storage?.values else { continue }
                for (index, value) in values.enumerated() where !object.runtime.properties[index].isTransient {
                    switch value {
                    case .reference(let key): if !isToMany { try check(key, as: index, of: object) }
                    case .toMany(let state): if isToMany { for key in state.added { try check(key, as: index, of: object) } }
                    default: continue
                    }
                }
            }
        }
    }

    private func check(_ key: ObjectKey, as index: Int, of object: NSManagedObject) throws {
        guard !key.isNone else { return }
        let destination = registeredObject(for: key)
        guard let home = object.runtime.store, let other = destination?.runtime.store ?? runtime(slot: key.slot)?.store, other !== home
        else { return }
        let name = "\(object.entity.name ?? "?").\(object.runtime.properties[index].name)"
        let id = destination?.objectID ?? objectID(for: key)
        throw CoreDataError.make(
            NSManagedObjectExternalRelationshipError,
            "Nothing was saved: \(name) of \(object.objectID.uriRepresentation().absoluteString), in the store at \(home.location), "
                + "points at \(id.uriRepresentation().absoluteString) in the store at \(other.location). A relationship cannot lead to "
                + "another store; use a fetched property, or assign(_:to:) both objects to one store before the save.",
            [
                NSAffectedObjectsErrorKey: [object, destination].compactMap(\.self), NSAffectedStoresErrorKey: [home, other],
                NSValidationKeyErrorKey: object.runtime.properties[index].name,
            ])
    }
}
