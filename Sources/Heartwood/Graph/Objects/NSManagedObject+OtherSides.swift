import RecordLog

/// What an object's unsaved relationships have done to the objects at the other end. Where the object drops them, or reads a newer row
/// beneath them, the other end follows. Nothing here is a step for an undo: nobody has set anything.
extension NSManagedObject {
    /// Takes the object out of the members of owners that unsaved to-one relationships name, and puts it back where it was, before they are
    /// dropped. Of other relationships each side has a change of its own, which the save heeds. Nothing is read.
    final func withdrawFromOwners() {
        for (index, property) in runtime.properties.enumerated() where property.kind == .toOne {
            if let value = override(index) { withdraw(from: value.destination, at: index) }
        }
    }

    /// The same for one to-one relationship, whose unsaved value is an owner's key or `none`; nothing where its other side is to-one.
    final func withdraw(from owner: ObjectKey, at index: Int) {
        guard let inverse = runtime.properties[index].inverse, runtime.properties[index].inverseIsToMany else { return }
        for owner in [owner, committedValue(index).destination] { forgetMembership(of: owner, inverse) }
    }

    /// Reads a newer row beneath the unsaved values: an owner that the old row named has nobody to leave out any more, one that the new row
    /// names has. Where both name the same, nothing changes.
    /// - Parameter read: forgets the old row.
    final func keepOwners(while read: () -> Void) {
        var moved: [(index: Int, inverse: Int, committed: ObjectKey)] = []
        for (index, property) in runtime.properties.enumerated() where property.kind == .toOne && property.inverseIsToMany {
            guard let inverse = property.inverse, override(index) != nil else { continue }
            // One that was never read has left nobody.
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

    /// Has the owners that a newer row and its members name leave the object out, which is deleted here.
    final func leaveOwners(in row: RowView) {
        for (index, property) in runtime.properties.enumerated() where property.kind.isRelationship && property.inverseIsToMany {
            guard let inverse = property.inverse, [.nullifyDeleteRule, .cascadeDeleteRule].contains(property.deleteRule) else { continue }
            let owners = property.kind == .toOne
                ? [committedValue(index, in: row).destination] : managedObjectContext?.storedMembers(of: self, property: index) ?? []
            for owner in owners { leave(owner, inverse) }
        }
    }

    /// Takes back what the object's deletion has done to those that it led to. Nothing is read.
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

    /// Has an owner whose stored members name the object leave it out.
    private func leave(_ owner: ObjectKey, _ index: Int) {
        guard !owner.isNone, let owner = managedObjectContext?.object(for: owner), !owner.isDeleted else { return }
        owner.storage?.publisher?.send()
        let members = owner.toManyState(index)
        // It may have read its members before this one came.
        if members.isFired { owner.managedObjectContext.map { members.rebase($0.storedMembers(of: owner, property: index)) } }
        members.remove(key, isStored: true)
        owner.noteChange()
    }
}
