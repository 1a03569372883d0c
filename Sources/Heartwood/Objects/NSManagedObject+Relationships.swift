import Foundation
import RecordLog

/// Relationships by property index, with the inverse kept on the other side.
///
/// A to-one side is a reference in the object's own row. A to-many side is read from the store as a list of keys; until
/// it is asked for, changes to it are remembered beside it (`ToManyState`), so connecting a person to a group reads no
/// other member of the group.
extension NSManagedObject {
    // MARK: To-one

    /// The key of a to-one destination; `none` for null.
    final func reference(at index: Int) -> ObjectKey {
        if let value = override(index) {
            if case .reference(let key) = value { return key }
            return .none
        }
        guard let row, let access = access(index, in: row) else { return .none }
        let reference = row.reference(access)
        return reference.isNone ? .none : ObjectKey(rawValue: reference.rawValue &+ slotBase)
    }

    /// The destination of a to-one relationship by property index: a fault unless the context knows it already.
    public final func managedObject(at index: Int) -> NSManagedObject? {
        let key = reference(at: index)
        return key.isNone ? nil : managedObjectContext?.object(for: key)
    }

    /// Sets a to-one relationship and the other side of it.
    /// - Precondition: `object` belongs to the same context.
    public final func setManagedObject(_ object: NSManagedObject?, at index: Int) {
        let property = runtime.properties[index]
        let old = reference(at: index)
        let new = object?.key ?? .none
        guard old != new else {
            noteChange()
            return
        }
        if let inverse = property.inverse, let context = managedObjectContext {
            if !old.isNone, let previous = context.object(for: old) { previous.unlink(inverse, from: self) }
            if let object {
                if !property.inverseIsToMany {
                    let rival = object.reference(at: inverse)
                    if !rival.isNone, rival != key, let rivalObject = context.object(for: rival) {
                        rivalObject.setManagedValue(.null, at: index)
                    }
                }
                object.link(inverse, to: self)
            }
        }
        setManagedValue(new.isNone ? .null : .reference(new), at: index)
    }

    /// Records that `other` now points here through this side's inverse.
    final func link(_ index: Int, to other: NSManagedObject) {
        if runtime.properties[index].kind == .toMany {
            changingMembers(index).add(other.key)
            noteChange()
        } else {
            setManagedValue(.reference(other.key), at: index)
        }
    }

    /// Records that `other` no longer points here.
    final func unlink(_ index: Int, from other: NSManagedObject) {
        if runtime.properties[index].kind == .toMany {
            changingMembers(index).remove(other.key)
            noteChange()
        } else if reference(at: index) == other.key {
            setManagedValue(.null, at: index)
        }
    }

    // MARK: To-many

    /// The state of a to-many relationship, made on first use.
    final func toManyState(_ index: Int) -> ToManyState {
        checkQueue("a relationship")
        if let storage, !storage.values.isEmpty, case .toMany(let state) = storage.values[index] { return state }
        if isFault { _ = row }
        let made = ToManyState(base: key.isTemporary || key.isNone ? [] : nil)
        changeStorage().values[index] = .toMany(made)
        return made
    }

    /// The state of a to-many relationship that is about to change.
    private final func changingMembers(_ index: Int) -> ToManyState {
        storage?.publisher?.send()
        return toManyState(index)
    }

    /// The state, if the relationship was ever touched.
    private final func touchedToManyState(_ index: Int) -> ToManyState? {
        guard let storage, !storage.values.isEmpty, case .toMany(let state) = storage.values[index] else { return nil }
        return state
    }

    /// The keys of a to-many relationship's members; reads the store where they have not been read.
    final func memberKeys(at index: Int) -> [ObjectKey] {
        let state = toManyState(index)
        if !state.isFired { state.fire(managedObjectContext?.storedMembers(of: self, property: index) ?? []) }
        return state.members ?? []
    }

    /// The members of a to-many relationship by property index, in order where the relationship is ordered.
    /// O(members); reads the store's index of the relationship once, and no member's row.
    public final func managedObjects(at index: Int) -> [NSManagedObject] {
        guard let context = managedObjectContext else { return [] }
        return memberKeys(at: index).compactMap { context.object(for: $0) }
    }

    /// How many members a to-many relationship has. Reads the index, but makes no object.
    public final func countOfManagedObjects(at index: Int) -> Int {
        checkQueue("a relationship")
        if let state = touchedToManyState(index), state.isFired || state.isChanged { return memberKeys(at: index).count }
        guard !key.isTemporary, !state.contains(.detached) else { return memberKeys(at: index).count }
        return managedObjectContext?.storedMemberCount(of: self, property: index) ?? 0
    }

    /// Adds a member to a to-many relationship, and sets the other side. O(1) on average; reads no other member.
    public final func addManagedObject(_ object: NSManagedObject, at index: Int) {
        let property = runtime.properties[index]
        if let inverse = property.inverse, !property.inverseIsToMany {
            object.setManagedObject(self, at: inverse)
            return
        }
        if let inverse = property.inverse { object.link(inverse, to: self) }
        changingMembers(index).add(object.key)
        noteChange()
    }

    /// Takes a member out of a to-many relationship, and clears the other side.
    public final func removeManagedObject(_ object: NSManagedObject, at index: Int) {
        let property = runtime.properties[index]
        if let inverse = property.inverse, !property.inverseIsToMany {
            if object.reference(at: inverse) == key { object.setManagedObject(nil, at: inverse) }
            return
        }
        if let inverse = property.inverse { object.unlink(inverse, from: self) }
        changingMembers(index).remove(object.key)
        noteChange()
    }

    /// Makes `objects` the members of a to-many relationship, in this order where it is ordered.
    public final func setManagedObjects(_ objects: [NSManagedObject], at index: Int) {
        let current = memberKeys(at: index)
        let wanted = Set(objects.map(\.key))
        let present = Set(current)
        for old in current where !wanted.contains(old) {
            if let object = managedObjectContext?.object(for: old) { removeManagedObject(object, at: index) }
        }
        var seen = present
        for object in objects where seen.insert(object.key).inserted { addManagedObject(object, at: index) }
        if runtime.properties[index].isOrdered {
            var unique: Set<ObjectKey> = []
            changingMembers(index).setOrder(objects.map(\.key).filter { unique.insert($0).inserted })
        }
        noteChange()
    }

    // MARK: By name

    /// Whether the relationship has not been read from the store yet.
    public final func hasFault(forRelationshipNamed name: String) -> Bool {
        let index = propertyIndex(name)
        if isFault { return true }
        switch runtime.properties[index].kind {
        case .toMany: return !(touchedToManyState(index)?.isFired ?? key.isTemporary)
        case .toOne:
            let key = reference(at: index)
            return !key.isNone && managedObjectContext?.registeredObject(for: key)?.isFault ?? true
        default: return false
        }
    }

    /// The IDs of a relationship's destinations, without making an object.
    public final func objectIDs(forRelationshipNamed name: String) -> [NSManagedObjectID] {
        let index = propertyIndex(name)
        guard let context = managedObjectContext else { return [] }
        let keys = runtime.properties[index].kind == .toMany ? memberKeys(at: index) : [reference(at: index)]
        return keys.filter { !$0.isNone }.map { context.objectID(for: $0) }
    }

    /// A set that stands for a to-many relationship: what is added to it or removed from it is added to or removed from
    /// the relationship, both sides.
    public final func mutableSetValue(forKey name: String) -> NSMutableSet {
        RelationshipSet(owner: self, index: propertyIndex(name))
    }
}
