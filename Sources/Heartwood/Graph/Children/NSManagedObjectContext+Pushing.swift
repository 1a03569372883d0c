import Foundation

/// The save of a child context: its changes become unsaved changes of the parent.
///
/// The parent sets to-one relationships as a program would, so that the other sides follow from the parent's current state; this also sets
/// the to-many sides of one-to-many relationships. Members of other to-many relationships are added and removed one by one, and again from
/// the other side, where that changes nothing. Deletions apply the delete rules in the parent, which may have objects that the child does
/// not know.
///
/// Siblings do not conflict: of each property the last save wins. Only an object that the parent has deleted in the meantime is a conflict.
extension NSManagedObjectContext {
    /// Gives all changes to the parent, or none. Objects that the parent has deleted go to the merge policy.
    final func saveToParent() throws {
        var attempts = 0
        while true {
            let changes = pending.listed.filter { !$0.isDeleted || !$0.state.contains(.inaccessible) }.map(PushedChange.init)
            let gone = try askParent { try $0.accept(changes) }
            guard !gone.isEmpty else { return }
            let conflicts = gone.compactMap { identities[$0] }.map {
                NSMergeConflict(
                    source: $0, newVersion: 0, oldVersion: Int($0.rowVersion), cachedSnapshot: nil, persistedSnapshot: nil)
            }
            try (attempts < Self.attemptsMax ? policy : .error).resolve(optimisticLockingConflicts: conflicts)
            attempts += 1
            compactListed()
        }
    }

    /// - Returns: the keys of changed objects that this context no longer has; if there are any, nothing was changed here.
    /// - Throws: if a store cannot be read; then nothing was changed here.
    private func accept(_ changes: [PushedChange]) throws -> [ObjectKey] {
        var gone: [ObjectKey] = []
        for change in changes where change.kind == .updated && !change.isRevived {
            guard let object = served(change.key), try fulfil(object) else {
                gone.append(change.key)
                continue
            }
        }
        guard gone.isEmpty else { return gone }
        // All objects are made first, because they refer to each other.
        let objects = changes.map { change in
            change.kind == .inserted || change.isRevived ? insertOrRestore(change) : served(change.key)
        }
        for (object, change) in zip(objects, changes) where change.kind != .deleted {
            if let object { set(change, on: object) }
        }
        for (object, change) in zip(objects, changes) {
            for members in change.members where members.order != nil {
                if let object, let order = members.order { setOrder(order, of: object, members.property) }
            }
        }
        for (object, change) in zip(objects, changes) where change.kind == .deleted {
            if let object { performDeletion(of: object) }
        }
        tree.changes.note()
        return []
    }

    /// Makes the object that a child has inserted, or restores a deleted one. Its `awakeFromInsert` is not called, because the child has
    /// called it.
    private func insertOrRestore(_ change: PushedChange) -> NSManagedObject {
        let key = currentKey(change.key)
        let known = identities[key]
        let object = known ?? makeFault(key, runtime: change.runtime)
        // Undoes an unsaved deletion: the row still exists.
        let hasRow = known.map { $0.isDeleted && !$0.isInserted && !key.isTemporary && !$0.state.contains(.inaccessible) } ?? false
        let isInserted = !hasRow && (change.kind == .inserted || key.isTemporary || object.isInserted)
        let wasDeleted = object.isDeleted
        if object.state.isDisjoint(with: .changed) { pending.changeCount += 1 }
        object.state.subtract([.fault, .inaccessible, .deleted, .processed])
        object.state.insert(isInserted ? .inserted : .updated)
        if object.state.contains(.outdated) { rebase(object) }
        if change.isRevived { revive(object, change) }
        if wasDeleted { dropMembers(leftBy: object) }
        list(object)
        noteEvent(isInserted ? .inserted : .updated, object)
        if object.state.contains(.recorded) { object.recordInsertion() }
        return object
    }

    /// Sets every value, because there is no row to read them from.
    private func revive(_ object: NSManagedObject, _ change: PushedChange) {
        let storage = object.changeStorage()
        // An object that never had a row is an ordinary insertion.
        storage.isRevived = !object.key.isTemporary
        for index in change.values.indices where object.runtime.properties[index].hasColumn {
            storage.values[index] = object.runtime.properties[index].kind == .toOne ? .null : change.values[index]
        }
    }

    /// Removes members that the undone deletion has unlinked or deleted.
    private func dropMembers(leftBy object: NSManagedObject) {
        for (index, property) in object.runtime.properties.enumerated() where property.kind == .toMany {
            for key in object.memberKeys(at: index) {
                guard let member = served(key) else {
                    object.toManyState(index).remove(key)
                    continue
                }
                guard let inverse = property.inverse else { continue }
                let isMutual = property.inverseIsToMany
                    ? member.containsManagedObject(object, at: inverse) : member.reference(at: inverse) == object.key
                if !isMutual { object.toManyState(index).remove(key) }
            }
        }
    }

    private func set(_ change: PushedChange, on object: NSManagedObject) {
        for (index, value) in change.values.enumerated() {
            switch value {
            case .unset: break
            case _ where object.runtime.properties[index].kind == .toOne: setDestination(value, of: object, index)
            default: object.setManagedValue(value, at: index)
            }
        }
        for members in change.members {
            for key in members.added {
                if let member = served(key) { object.addManagedObject(member, at: members.property) }
            }
            for key in members.removed {
                if let member = served(key) {
                    object.removeManagedObject(member, at: members.property)
                } else {
                    object.toManyState(members.property).remove(currentKey(key))
                }
            }
        }
        object.noteChange()
    }

    /// Sets null if the destination is deleted in this context.
    private func setDestination(_ value: ManagedValue, of object: NSManagedObject, _ index: Int) {
        var destination: NSManagedObject?
        if case .reference(let key) = value, !key.isNone { destination = served(key) }
        if object.reference(at: index) != destination?.key ?? .none { object.setManagedObject(destination, at: index) }
    }

    /// Applies the child's order; members that the child did not know follow at the end.
    private func setOrder(_ order: [ObjectKey], of object: NSManagedObject, _ index: Int) {
        let present = object.memberKeys(at: index)
        let members = Set(present)
        var result = order.map(currentKey).filter(members.contains)
        let known = Set(result)
        result += present.filter { !known.contains($0) }
        guard result != present else { return }
        object.toManyState(index).setOrder(result)
        object.noteChange()
    }
}
