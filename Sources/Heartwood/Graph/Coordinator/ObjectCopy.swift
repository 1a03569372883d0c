import Foundation

/// Copies every object of a store to another coordinator's store, of any types, in one save.
///
/// The objects are plain `NSManagedObject`s: the code of their classes for inserting, fetching and saving does not run. Nothing is
/// validated, because no value changes.
package struct ObjectCopy {
    /// The IDs of one object in the two stores.
    package typealias Pair = (old: NSManagedObjectID, new: NSManagedObjectID)

    private let source: NSManagedObjectContext
    private let target: NSManagedObjectContext
    private let entities: [NSEntityDescription]

    /// - Parameter target: a coordinator with the same model and one store.
    init(store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator, to target: NSPersistentStoreCoordinator) {
        let model = coordinator.managedObjectModel
        // Other stores of the coordinator may hold the same entities.
        source = NSManagedObjectContext(plainObjectsOf: NSPersistentStoreCoordinator(reading: store, of: coordinator))
        self.target = NSManagedObjectContext(plainObjectsOf: target)
        entities = NSEntityDescription.concrete(among: model.entities(forConfigurationName: store.configuration) ?? model.entities)
    }

    @discardableResult
    func run() throws -> [Pair] {
        var pairs: [(old: NSManagedObject, new: NSManagedObject)] = []
        var copies: [ObjectKey: NSManagedObject] = [:]
        for entity in entities {
            let request = NSFetchRequest<NSManagedObject>(name: entity.name, objectClass: nil)
            request.includesSubentities = false
            for old in try source.fetch(request) {
                let new = NSManagedObject(entity: entity, insertInto: target)
                copyAttributes(of: old, to: new)
                copies[old.key] = new
                pairs.append((old, new))
            }
        }
        for (old, new) in pairs { link(new, as: old, copies, isToMany: false) }
        for (old, new) in pairs { link(new, as: old, copies, isToMany: true) }
        // Getters cannot throw; an unread value must not be copied as nil.
        if let failure = source.readingFailure { throw failure }
        try target.saveToStores()
        return pairs.map { old, new in
            let key = new.storage?.permanentKey ?? .none
            return (old.objectID, NSManagedObjectID(entity: new.entity, key: key, store: new.runtime.store, contextToken: 0))
        }
    }

    private func copyAttributes(of old: NSManagedObject, to new: NSManagedObject) {
        for (index, property) in old.runtime.properties.enumerated() where property.hasColumn && !property.kind.isRelationship {
            new.setManagedValue(old.managedValue(index), at: index)
        }
    }

    private func link(_ new: NSManagedObject, as old: NSManagedObject, _ copies: [ObjectKey: NSManagedObject], isToMany: Bool) {
        for (index, property) in old.runtime.properties.enumerated() where property.kind == (isToMany ? .toMany : .toOne) {
            guard !property.isTransient else { continue }
            guard isToMany else {
                if let copy = copies[old.reference(at: index)] { new.setManagedObject(copy, at: index) }
                continue
            }
            // The other side has already set the members, but not their order.
            guard property.isOrdered || property.inverse == nil || property.inverseIsToMany else { continue }
            new.setManagedObjects(old.memberKeys(at: index).compactMap { copies[$0] }, at: index)
        }
    }
}

extension NSManagedObjectContext {
    /// Makes a context whose objects are plain `NSManagedObject`s.
    convenience init(plainObjectsOf coordinator: NSPersistentStoreCoordinator) {
        self.init(concurrencyType: .confinementConcurrencyType)
        persistentStoreCoordinator = coordinator
        making.usesPlainObjects = true
    }
}
