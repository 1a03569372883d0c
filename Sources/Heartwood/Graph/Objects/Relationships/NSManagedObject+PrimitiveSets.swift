import Foundation

// To-many relationships in accessors written by hand: they call `willChangeValue`, change the set that `primitiveValue(forKey:)` returned, and call
// `didChangeValue`.

/// A to-many relationship that accessors are changing. Accessors may nest.
struct OpenPrimitiveSet {
    /// The number of changes that have begun and not ended.
    var depth = 0
    /// The set that `primitiveValue(forKey:)` returned.
    var set: NSObject?
    /// Its members when it was returned, or when its changes were last applied.
    var given: [NSManagedObject] = []
}

extension NSManagedObject {
    /// The members of a to-many relationship in a mutable set. Between `willChangeValue` and `didChangeValue` every call returns the same set.
    final func primitiveSet(at index: Int) -> NSObject {
        takePrimitiveSet(at: index)
        let members = managedObjects(at: index)
        func made() -> NSObject {
            runtime.properties[index].isOrdered ? NSMutableOrderedSet(array: members) : NSMutableSet(array: members) as NSObject
        }
        guard var open = storage?.primitiveSets[index] else { return made() }
        let set = open.set ?? made()
        if open.set != nil, open.given != members {
            switch set {
            case let set as NSMutableOrderedSet:
                set.removeAllObjects()
                set.addObjects(from: members)
            case let set as NSMutableSet: set.setSet(Set(members.map(AnyHashable.init)))
            default: break
            }
        }
        open.set = set
        open.given = members
        storage?.primitiveSets[index] = open
        return set
    }

    final func openPrimitiveSet(_ key: String) {
        guard let index = runtime.index(of: key), runtime.properties[index].kind == .toMany else { return }
        ownStorage().primitiveSets[index, default: OpenPrimitiveSet()].depth += 1
    }

    /// Applies the changes of the returned set, if any, to the relationship.
    final func closePrimitiveSet(_ key: String) {
        guard let open = storage?.primitiveSets, !open.isEmpty, let index = runtime.index(of: key) else { return }
        takePrimitiveSet(at: index)
        if open[index]?.depth ?? 0 > 1 { storage?.primitiveSets[index]?.depth -= 1 } else { storage?.primitiveSets[index] = nil }
    }

    /// Applies only the set's own changes: members may have been added and removed by other means meanwhile.
    private func takePrimitiveSet(at index: Int) {
        guard let open = storage?.primitiveSets[index], let set = open.set else { return }
        guard let held = NSManagedObject.members(of: set) else { return setModelledValue(set, at: index) }
        let before = Set(open.given), now = Set(held)
        storage?.primitiveSets[index]?.given = held
        if runtime.properties[index].isOrdered {
            if held != open.given { setModelledValue(set, at: index) }
        } else if before != now {
            removeManagedObjects(open.given.filter { !now.contains($0) }, at: index)
            addManagedObjects(held.filter { !before.contains($0) }, at: index)
        }
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
