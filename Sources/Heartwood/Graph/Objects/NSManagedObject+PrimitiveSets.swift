import Foundation

// To-many relationships in accessors written by hand: `willChangeValue`, a change of the set that `primitiveValue(forKey:)` gives,
// `didChangeValue`.

/// A to-many relationship that accessors are just changing, one within the other.
struct OpenPrimitiveSet {
    /// How many changes have begun and not ended.
    var depth = 0
    /// What was handed out.
    var set: NSObject?
    /// What it had then, or when its changes were taken over last.
    var given: [NSManagedObject] = []
}

extension NSManagedObject {
    /// Of a to-many relationship: its members, in a set that may be changed. Between `willChangeValue` and `didChangeValue` it is always the
    /// same one.
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

    /// Makes what was done to the set that was handed out, if one was, the relationship's.
    final func closePrimitiveSet(_ key: String) {
        guard let open = storage?.primitiveSets, !open.isEmpty, let index = runtime.index(of: key) else { return }
        takePrimitiveSet(at: index)
        if open[index]?.depth ?? 0 > 1 { storage?.primitiveSets[index]?.depth -= 1 } else { storage?.primitiveSets[index] = nil }
    }

    /// Of members only what was done to the set: others may have come and gone by another way meanwhile.
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
