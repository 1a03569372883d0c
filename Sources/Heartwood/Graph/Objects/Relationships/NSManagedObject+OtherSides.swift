import RecordLog

/// Keeps the objects at the other end of unsaved relationships consistent when the object drops those relationships or reads a newer row beneath
/// them. An undo manager records none of this, because the program set nothing.
extension NSManagedObject {
    /// Call this before unsaved to-one relationships are dropped. It removes the object from the members of the owners that they name, and puts it
    /// back among its former owner's. Both sides of other relationships record their own changes, which the save reads. Reads nothing.
    final func withdrawFromOwners() {
        for (index, property) in runtime.properties.enumerated() where property.kind == .toOne {
            if let value = override(index) { withdraw(from: value.destination, at: index) }
        }
    }

    /// The same for one to-one relationship, whose unsaved value is an owner's key or `none`. Does nothing if its other side is to-one.
    final func withdraw(from owner: ObjectKey, at index: Int) {
        guard let inverse = runtime.properties[index].inverse, runtime.properties[index].inverseIsToMany else { return }
        for owner in [owner, committedValue(index).destination] { forgetMembership(of: owner, inverse) }
    }

    /// Reads a newer row beneath the unsaved values. The owner in the old row no longer needs to leave the object out, and the owner in the new row
    /// does. If both are the same, nothing changes.
    /// - Parameter read: forgets the old row.
    final func keepOwners(while read: () -> Void) {
        var moved: [(index: Int, inverse: Int, committed: ObjectKey)] = []
        for (index, property) in runtime.properties.enumerated() where property.kind == .toOne && property.inverseIsToMany {
            guard let inverse = property.inverse, override(index) != nil else { continue }
            // An object that was never read has left no owner.
            let isRead = boundRow != nil || storage?.base != nil
            moved.append((index, inverse, isRead ? committedValue(index).destination : .none))
        }
        read()
        for (index, inverse, former) in moved {
            guard let new = override(index)?.destination, !state.contains(.detached) else { continue }
            let committed = committedValue(index).destination
            guard committed != former else { continue }
            forgetMembership(of: former, inverse)
            if new == committed {
                forgetMembership(of: new, inverse)
            } else {
                leave(committed, inverse)
            }
        }
    }

    /// Makes the owners that a newer row and its members name leave out this object, which is deleted here.
    final func leaveOwners(in row: UnsafeRowView) {
        for (index, property) in runtime.properties.enumerated() where property.kind.isRelationship && property.inverseIsToMany {
            guard let inverse = property.inverse, [.nullifyDeleteRule, .cascadeDeleteRule].contains(property.deleteRule) else { continue }
            let owners = property.kind == .toOne
                ? [committedValue(index, in: row).destination] : managedObjectContext?.storedMembers(of: self, property: index) ?? []
            for owner in owners { leave(owner, inverse) }
        }
    }

    /// Undoes the effect of the object's deletion on its destinations. Reads nothing.
    final func rejoinOwners(_ destinations: [(index: Int, objects: [NSManagedObject])]) {
        for (index, owners) in destinations where runtime.properties[index].inverseIsToMany {
            guard let inverse = runtime.properties[index].inverse else { continue }
            for owner in owners { forgetMembership(of: owner.key, inverse) }
        }
    }

    private func forgetMembership(of owner: ObjectKey, _ index: Int) {
        guard !owner.isNone else { return }
        managedObjectContext?.registeredObject(for: owner)?.touchedToManyState(index)?.forget(key)
    }

    /// Makes an owner whose stored members include the object leave it out.
    private func leave(_ owner: ObjectKey, _ index: Int) {
        guard !owner.isNone, let owner = managedObjectContext?.object(for: owner), !owner.isDeleted else { return }
        owner.storage?.publisher?.send()
        let members = owner.toManyState(index)
        // The owner may have read its members before this one was added.
        if members.isFired { owner.managedObjectContext.map { members.rebase($0.storedMembers(of: owner, property: index)) } }
        members.remove(key, isStored: true)
        owner.noteChange()
    }
}
