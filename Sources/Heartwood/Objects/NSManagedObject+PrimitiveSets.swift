import Foundation

// To-many relationships in accessors written by hand: `willChangeValue`, a change of the set that `primitiveValue(forKey:)` gives,
// `didChangeValue`.

extension NSManagedObject {
    /// Of a to-many relationship: its members, in a set that may be changed. Between `willChangeValue` and `didChangeValue` it is always the
    /// same one.
    final func primitiveSet(at index: Int) -> NSObject {
        let open = storage?.primitiveSets[index]
        if let set = open ?? nil { return set }
        let members = managedObjects(at: index)
        let made = runtime.properties[index].isOrdered ? NSMutableOrderedSet(array: members) : NSMutableSet(array: members) as NSObject
        if open != nil { storage?.primitiveSets[index] = .some(made) }
        return made
    }

    final func openPrimitiveSet(_ key: String) {
        guard let index = runtime.index(of: key), runtime.properties[index].kind == .toMany else { return }
        ownStorage().primitiveSets[index] = .some(nil)
    }

    /// Makes the members those of the set that was handed out, if one was.
    final func closePrimitiveSet(_ key: String) {
        guard let open = storage?.primitiveSets, !open.isEmpty, let index = runtime.index(of: key) else { return }
        storage?.primitiveSets[index] = nil
        if let set = open[index] ?? nil { setModelledValue(set, at: index) }
    }

    final func changeSet(_ key: String, _ kind: NSKeyValueSetMutationKind, _ objects: Set<AnyHashable>) {
        closePrimitiveSet(key)
        let index = toManyIndex(key), members = objects.map(RelationshipSet.member)
        switch kind {
        case .union: addManagedObjects(members, at: index)
        case .minus: removeManagedObjects(members, at: index)
        case .intersect: removeManagedObjects(managedObjects(at: index).filter { !objects.contains($0) }, at: index)
        case .set: setManagedObjects(members, at: index)
        }
    }
}
