import Foundation
import RecordLog

/// Keeps both sides of a relationship equal where the store keeps each side separately: one-to-one relationships, the order of a
/// one-to-many relationship's members, to-many relationships that are their own inverse, and every many-to-many relationship of a store of the
/// program's own class.
///
/// Setting a relationship changes both sides, and a save writes both. Since then a refresh or a merge policy may have dropped one side, or
/// a merge may have put another context's save under the changes of this one. So each attempt of a save compares the pairs that it is about
/// to change. A to-one side determines its to-many side.
extension NSManagedObjectContext {
    /// Makes both sides agree for every relationship that the save changes.
    /// - Complexity: O(changed objects); at most three rows are read for each change of a one-to-one relationship.
    final func agreePairs() throws {
        var position = 0
        // The loop also reaches objects that it appends to `listed`.
        while position < pending.listed.count {
            let object = pending.listed[position]
            position += 1
            guard !object.runtime.pairs.isEmpty || !object.runtime.manyToMany.isEmpty, object.hasChanges, !object.isDeleted,
                !object.state.contains(.detached), let values = object.storage?.values, !values.isEmpty
            else { continue }
            agreeManyToMany(object, values)
            for index in object.runtime.pairs {
                switch values[index] {
                case .toMany(let members) where object.runtime.properties[index].isItsOwnInverse: agree(object, members, index)
                case .toMany(let members): try agree(object, members, object.runtime.properties[index])
                case .null, .reference:
                    // The save itself reports a vanished row as a conflict.
                    guard try isThere(object) else { continue }
                    let old = object.hasNoRow ? .none : object.committedValue(index).destination
                    guard values[index].destination != old else { continue }
                    if object.runtime.properties[index].inverseIsToMany {
                        try agree(object, index, from: old)
                    } else {
                        try agreeOneToOne(object, index, from: old)
                    }
                default: continue
                }
            }
        }
    }

    /// Clears relationships that still lead to objects which the save deletes. The deletion had cleared them, and a merge policy has dropped that
    /// with the other changes of their objects, or has brought the objects back. A destination that the rule No Action leaves alone stays as it is.
    /// - Complexity: O(destinations of the deleted objects).
    final func partFromDeleted() throws {
        for object in pending.listed where object.isDeleted && !object.state.contains(.detached) {
            guard try fulfil(object) else { continue }
            for (index, property) in object.runtime.properties.enumerated() where property.kind.isRelationship {
                guard let inverse = property.inverse, !property.inverseIsToMany, property.deleteRule != .noActionDeleteRule else { continue }
                let destinations = property.kind == .toMany
                    ? storedMembers(of: object, property: index) : [object.committedValue(index).destination]
                for key in destinations { try part(key, inverse, from: object.key) }
            }
        }
    }

    /// Drops added and removed members whose to-one side disagrees.
    private func agree(_ owner: NSManagedObject, _ members: ToManyState, _ property: PropertyRuntime) throws {
        guard members.isChanged, let inverse = property.inverse else { return }
        for key in members.added {
            if let member = registeredObject(for: key), member.reference(at: inverse) != owner.key { members.forget(key) }
        }
        for key in members.removed {
            guard let member = registeredObject(for: key), try isThere(member) else { continue }
            if member.reference(at: inverse) == owner.key {
                members.forget(key)
            } else if member.override(inverse) == nil {
                // The owner was read after another save had given it the member, the member before that save.
                try catchUp(member, inverse) { $0 == owner.key }
                if member.reference(at: inverse) == owner.key { member.setManagedValue(.null, at: inverse) }
            }
        }
    }

    /// A record log has one table of links for both sides.
    private func agreeManyToMany(_ object: NSManagedObject, _ values: [ManagedValue]) {
        guard !object.runtime.manyToMany.isEmpty, let store = object.runtime.store, store.rows == nil else { return }
        for index in object.runtime.manyToMany {
            let inverse = object.runtime.properties[index].inverse
            if let inverse, case .toMany(let members) = values[index], members.isChanged { agree(object, members, inverse) }
        }
    }

    /// Adds and removes the object on the other side, as it was on this side.
    private func agree(_ object: NSManagedObject, _ members: ToManyState, _ inverse: Int) {
        for key in members.added {
            guard let member = registeredObject(for: key), !member.isDeleted else { continue }
            if member.touchedToManyState(inverse)?.contains(object.key) != true { member.link(inverse, to: object) }
        }
        for key in members.removed {
            guard let member = registeredObject(for: key), !member.isDeleted else { continue }
            if member.touchedToManyState(inverse)?.contains(object.key) != false { member.unlink(inverse, from: object) }
        }
    }

    /// Adds a member to its new owner's list and removes it from the old owner's.
    private func agree(_ member: NSManagedObject, _ index: Int, from old: ObjectKey) throws {
        guard let inverse = member.runtime.properties[index].inverse else { return }
        let new = member.reference(at: index)
        if !new.isNone, let owner = object(for: new), try isThere(owner), owner.touchedToManyState(inverse)?.contains(member.key) != true {
            owner.link(inverse, to: member)
        }
        // A member with a new owner leaves the old owner's list when the save stores it.
        guard new.isNone, !old.isNone, let owner = object(for: old), try isThere(owner) else { return }
        let members = owner.touchedToManyState(inverse)
        // The owner may have read its members before this one was added.
        if let members, members.isFired, members.contains(member.key) == false, !members.removed.contains(member.key) {
            members.rebase(storedMembers(of: owner, property: inverse))
        }
        if members?.contains(member.key) != false { owner.unlink(inverse, from: member) }
    }

    private func agreeOneToOne(_ object: NSManagedObject, _ index: Int, from old: ObjectKey) throws {
        guard let inverse = object.runtime.properties[index].inverse else { return }
        let new = object.reference(at: index)
        if !new.isNone, let partner = self.object(for: new), try isThere(partner) {
            try catchUp(partner, inverse) { $0 != object.key }
            if let other = partner.override(inverse)?.destination, !other.isNone, other != object.key {
                // The partner has been set to another object, which is newer than this object's value.
                object.setManagedValue(.null, at: index)
            } else {
                if partner.reference(at: inverse) != object.key { partner.setManagedValue(.reference(object.key), at: inverse) }
                let former = partner.hasNoRow ? .none : partner.committedValue(inverse).destination
                if former != object.key { try part(former, index, from: new) }
            }
        }
        try part(old, inverse, from: object.key)
    }

    /// Clears the relationship of the object with `key` if it still points at `partner`, which now belongs to another pair.
    final func part(_ key: ObjectKey, _ index: Int, from partner: ObjectKey) throws {
        guard !key.isNone, let object = object(for: key), object.override(index) == nil, try isThere(object) else { return }
        try catchUp(object, index) { $0 == partner }
        if object.reference(at: index) == partner { object.setManagedValue(.null, at: index) }
    }

    /// Whether an object will still exist after the save, with its row or committed state read. Fires no fault.
    private func isThere(_ object: NSManagedObject) throws -> Bool {
        guard !object.isDeleted, !object.state.contains(.detached) else { return false }
        return try object.hasNoRow || fulfil(object)
    }

    /// Refreshes an object from its newest row, if that row's destination satisfies `matters` and this context has not changed the
    /// relationship.
    private func catchUp(_ object: NSManagedObject, _ index: Int, where matters: (ObjectKey) -> Bool) throws {
        guard !object.hasNoRow, object.override(index) == nil, let store = object.runtime.store else { return }
        guard store.traits.contains(.rereadsRows) else {
            // A store without rows is read by refreshing the object.
            if !object.hasChanges { performRefresh(of: object, mergeChanges: true) }
            return
        }
        guard let row = try view(of: store).row(object.key), row.version != object.rowVersion,
            matters(object.committedValue(index, in: row).destination)
        else { return }
        performRefresh(of: object, mergeChanges: true)
    }
}

extension NSManagedObject {
    /// Whether the save writes a new row for the object.
    fileprivate final var hasNoRow: Bool { isInserted || storage?.isRevived == true }
}
