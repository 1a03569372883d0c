import Foundation
import RecordLog

/// Relationships by property index. Each setter keeps the inverse consistent.
///
/// A to-one side is a reference in the object's own row. A to-many side is read from the store as a list of keys. Until it is read, its changes are
/// kept beside it (`ToManyState`), so that connecting a person to a group reads no other member of the group.
extension NSManagedObject {
    // MARK: To-one

    /// The key of a to-one destination; `none` for null.
    final func reference(at index: Int) -> ObjectKey {
        if let value = override(index) { return value.destination }
        let committed = committedReference(at: index)
        return lateOverride(index)?.destination ?? committed
    }

    /// The key of the to-one destination in the row; `none` for null.
    private final func committedReference(at index: Int) -> ObjectKey {
        guard let row else { return inheritedValue(index).destination }
        guard let access = access(index, in: row) else { return .none }
        let reference = row.reference(access)
        return reference.isNone ? .none : ObjectKey(rawValue: reference.rawValue &+ slotBase)
    }

    /// The destination of a to-one relationship by property index. It is a fault unless the context has already read it.
    @_spi(GeneratedCode) public final func managedObject(at index: Int) -> NSManagedObject? {
        let key = reference(at: index)
        guard !key.isNone, let context = managedObjectContext else { return nil }
        let destination = context.object(for: key, of: self)
        noteFollowed()
        return destination
    }

    /// Sets a to-one relationship and its other side. In a one-to-one relationship the previous owner of `object` loses it.
    /// - Precondition: `object` belongs to the same context.
    @_spi(GeneratedCode) public final func setManagedObject(_ object: NSManagedObject?, at index: Int) {
        let property = runtime.properties[index]
        let object = object.flatMap { fitting($0, for: property) }
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
                    let formerKey = object.reference(at: inverse)
                    if !formerKey.isNone, formerKey != key, let former = context.object(for: formerKey),
                        former.reference(at: index) == object.key
                    {
                        former.setManagedValue(.null, at: index)
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
            addMember(other, at: index)
        } else {
            setManagedValue(.reference(other.key), at: index)
        }
    }

    /// Records that `other` no longer points here.
    final func unlink(_ index: Int, from other: NSManagedObject) {
        if runtime.properties[index].kind == .toMany {
            removeMember(other, at: index)
        } else if reference(at: index) == other.key {
            setManagedValue(.null, at: index)
        }
    }

    // MARK: To-many

    /// The state of a to-many relationship, made on first use.
    final func toManyState(_ index: Int) -> ToManyState {
        checkQueue("a relationship", index)
        if let storage, !storage.values.isEmpty, case .toMany(let state) = storage.values[index] { return state }
        if isFault {
            _ = row
            // Firing the fault may have read the members too.
            if let state = touchedToManyState(index) { return state }
        }
        let made = ToManyState(base: isInserted || key.isNone ? [] : nil, isOrdered: runtime.properties[index].isOrdered)
        changeStorage().values[index] = .toMany(made)
        return made
    }

    /// The state of a to-many relationship, for a change that follows.
    final func changingMembers(_ index: Int) -> ToManyState {
        storage?.publisher?.send()
        if state.contains(.recorded) { recordOrder(index) }
        return toManyState(index)
    }

    /// Adds a member on this side only.
    private final func addMember(_ member: NSManagedObject, at index: Int) {
        let state = changingMembers(index)
        // The member comes back at the end. Only an order that was read can express that.
        if runtime.properties[index].isOrdered, !state.isFired, state.removed.contains(member.key) { _ = memberKeys(at: index) }
        state.add(member.key, isStored: state.isFired ? nil : isStored(member, at: index))
        noteChange()
    }

    private final func removeMember(_ member: NSManagedObject, at index: Int) {
        let state = changingMembers(index)
        state.remove(member.key, isStored: state.isFired ? nil : isStored(member, at: index))
        noteChange()
    }

    /// Whether a member's own row names this object; nil if the other side is to-many or does not exist.
    private final func isStored(_ member: NSManagedObject, at index: Int) -> Bool? {
        let property = runtime.properties[index]
        guard let inverse = property.inverse, !property.inverseIsToMany else { return nil }
        return member.committedReference(at: inverse) == key
    }

    /// The state, if the relationship was ever used.
    final func touchedToManyState(_ index: Int) -> ToManyState? {
        guard let storage, !storage.values.isEmpty, case .toMany(let state) = storage.values[index] else { return nil }
        return state
    }

    /// The keys of a to-many relationship's members. Reads the store if they have not been read.
    final func memberKeys(at index: Int) -> [ObjectKey] {
        let state = toManyState(index)
        if !state.isFired { state.fire(managedObjectContext?.storedMembers(of: self, property: index) ?? []) }
        return state.members ?? []
    }

    /// The members of a to-many relationship by property index, in order if the relationship is ordered. O(members). Reads the store's index of the
    /// relationship once, and no member's row.
    @_spi(GeneratedCode) public final func managedObjects(at index: Int) -> [NSManagedObject] {
        guard let context = managedObjectContext else { return [] }
        let members = memberKeys(at: index).compactMap { context.object(for: $0, of: self) }
        noteFollowed()
        return members
    }

    /// Adds a member to a to-many relationship, and sets the other side. A member that it already has stays where it is; a new member of an ordered
    /// relationship comes last. O(1) on average; reads no other member.
    /// - Precondition: `object` belongs to the same context.
    @_spi(GeneratedCode) public final func addManagedObject(_ object: NSManagedObject, at index: Int) {
        let property = runtime.properties[index]
        guard let object = fitting(object, for: property) else { return }
        if let inverse = property.inverse, !property.inverseIsToMany {
            object.setManagedObject(self, at: inverse)
            return
        }
        if state.contains(.recorded) { recordMember(object, at: index, isAdded: true) }
        if let inverse = property.inverse { object.link(inverse, to: self) }
        addMember(object, at: index)
    }

    /// Removes a member from a to-many relationship, and clears the other side; does nothing if the object is no member. Reads no other member.
    @_spi(GeneratedCode) public final func removeManagedObject(_ object: NSManagedObject, at index: Int) {
        guard containsManagedObject(object, at: index) else { return }
        let property = runtime.properties[index]
        if let inverse = property.inverse, !property.inverseIsToMany, object.reference(at: inverse) == key {
            object.setManagedObject(nil, at: inverse)
            return
        }
        if state.contains(.recorded) { recordMember(object, at: index, isAdded: false) }
        if let inverse = property.inverse, property.inverseIsToMany { object.unlink(inverse, from: self) }
        // The store lists this member, even if an older row of it was read.
        changingMembers(index).remove(object.key)
        noteChange()
    }

    /// Sets the members of a to-many relationship to `objects`, in this order if it is ordered.
    /// - Precondition: the objects belong to the same context.
    /// - Complexity: O(members, old and new).
    @_spi(GeneratedCode) public final func setManagedObjects(_ objects: [NSManagedObject], at index: Int) {
        let objects = objects.compactMap { fitting($0, for: runtime.properties[index]) }
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
            let order = objects.map(\.key).filter { unique.insert($0).inserted }
            if memberKeys(at: index) != order { changingMembers(index).setOrder(order) }
        }
        noteChange()
    }

    // MARK: By name

    /// Whether the relationship has not been read from the store yet.
    public final func hasFault(forRelationshipNamed name: String) -> Bool {
        let index = propertyIndex(name)
        if isFault { return true }
        switch runtime.properties[index].kind {
        case .toMany: return !(touchedToManyState(index)?.isFired ?? isInserted)
        case .toOne:
            let key = reference(at: index)
            return !key.isNone && managedObjectContext?.registeredObject(for: key)?.isFault ?? true
        default: return false
        }
    }

    /// The IDs of a relationship's destinations. Makes no objects.
    public final func objectIDs(forRelationshipNamed name: String) -> [NSManagedObjectID] {
        let index = propertyIndex(name)
        guard let context = managedObjectContext else { return [] }
        let keys = runtime.properties[index].kind == .toMany ? memberKeys(at: index) : [reference(at: index)]
        return keys.filter { !$0.isNone }.map { context.objectID(for: $0) }
    }

    /// A set that stands for a to-many relationship: adding and removing members changes both sides of the relationship. Its `count`,
    /// `anyObject()`, `contains`, `add` and `remove` read no other member.
    ///
    /// Except on Apple's platforms Foundation casts every subclass of `NSSet` to an empty Swift `Set`, this one included: use `value(forKey:)` for
    /// a set that you cast.
    /// - Precondition: the entity has a to-many relationship of this name.
    public final func mutableSetValue(forKey name: String) -> NSMutableSet {
        RelationshipSet(owner: self, index: toManyIndex(name))
    }

    /// An ordered set that stands for an ordered to-many relationship: its changes change both sides of the relationship.
    ///
    /// Except on Apple's platforms Foundation does not let a subclass override `firstObject`, `lastObject`, `reversed`, `array`, `set` and the
    /// enumerators, `for` loops among them. The set keeps a copy of the members for them, taken when the set was made, when it last changed the
    /// relationship, or when `count` last found another number. So it reads the relationship's keys when it is made; `addManagedObject(_:at:)` and
    /// its like read less.
    /// - Precondition: the entity has an ordered to-many relationship of this name.
    public final func mutableOrderedSetValue(forKey name: String) -> NSMutableOrderedSet {
        let index = toManyIndex(name)
        demand(
            runtime.properties[index].isOrdered,
            "\(entity.name ?? "?").\(name) is not ordered; use mutableSetValue(forKey:), or set isOrdered in the model.")
        return RelationshipOrderedSet(owner: self, index: index)
    }

    final func toManyIndex(_ name: String) -> Int {
        let index = propertyIndex(name)
        demand(
            runtime.properties[index].kind == .toMany,
            "\(entity.name ?? "?").\(name) is no to-many relationship; use value(forKey:) and setValue(_:forKey:).")
        return index
    }
}
