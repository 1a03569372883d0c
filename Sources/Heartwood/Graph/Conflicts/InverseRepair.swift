import Foundation
import RecordLog

/// Relationships of which the store keeps both sides, each by itself: one to one, the order of a one-to-many relationship's members, and
/// to-many relationships that are their own inverse.
///
/// Setting a relationship changes both sides, and a save writes both. One of them may have been dropped since, by a refresh or a merge
/// policy, or somebody else may have saved another partner, which a merge has put under the changes of this context. So each attempt of a
/// save looks at the pairs that it is about to change. A to-one side says what the to-many side must be.
extension NSManagedObjectContext {
    /// Makes both sides agree of what the save changes.
    /// - Complexity: O(changed objects); up to three rows are looked up for each change of a one-to-one relationship.
    final func agreePairs() throws {
        var position = 0
        // What agreeing changes comes behind.
        while position < listed.count {
            let object = listed[position]
            position += 1
            guard !object.runtime.pairs.isEmpty, object.hasChanges, !object.isDeleted, !object.state.contains(.detached),
                let values = object.storage?.values, !values.isEmpty
            else { continue }
            for index in object.runtime.pairs {
                switch values[index] {
                case .toMany(let members) where object.runtime.properties[index].isItsOwnInverse: agree(object, members, at: index)
                case .toMany(let members): try agree(object, members, object.runtime.properties[index])
                case .null, .reference:
                    // One whose row has vanished is a conflict, which the save will find.
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

    /// Only those came and went whose to-one side says so.
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
                // The owner was read after the member had come to it, and the member before.
                try catchUp(member, inverse) { $0 == owner.key }
                if member.reference(at: inverse) == owner.key { member.setManagedValue(.null, at: inverse) }
            }
        }
    }

    /// Whoever came to one side or left it does so on the other.
    private func agree(_ object: NSManagedObject, _ members: ToManyState, at index: Int) {
        for key in members.added {
            guard let member = registeredObject(for: key), !member.isDeleted else { continue }
            if member.touchedToManyState(index)?.contains(object.key) != true { member.link(index, to: object) }
        }
        for key in members.removed {
            guard let member = registeredObject(for: key), !member.isDeleted else { continue }
            if member.touchedToManyState(index)?.contains(object.key) != false { member.unlink(index, from: object) }
        }
    }

    /// A member's owners list it, and list it no more.
    private func agree(_ member: NSManagedObject, _ index: Int, from old: ObjectKey) throws {
        guard let inverse = member.runtime.properties[index].inverse else { return }
        let new = member.reference(at: index)
        if !new.isNone, let owner = object(for: new), try isThere(owner), owner.touchedToManyState(inverse)?.contains(member.key) != true {
            owner.link(inverse, to: member)
        }
        // One that has another owner is taken from the old one as it is stored.
        guard new.isNone, !old.isNone, let owner = object(for: old), try isThere(owner) else { return }
        let members = owner.touchedToManyState(inverse)
        // The owner may have read its members before this one came.
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
                // Another one was set there, which is newer than what is left of it here.
                object.setManagedValue(.null, at: index)
            } else {
                if partner.reference(at: inverse) != object.key { partner.setManagedValue(.reference(object.key), at: inverse) }
                let rival = partner.hasNoRow ? .none : partner.committedValue(inverse).destination
                if rival != object.key { try part(rival, index, from: new) }
            }
        }
        try part(old, inverse, from: object.key)
    }

    /// Whoever the store has in a pair that is another one now points there no more.
    final func part(_ key: ObjectKey, _ index: Int, from partner: ObjectKey) throws {
        guard !key.isNone, let object = object(for: key), object.override(index) == nil, try isThere(object) else { return }
        try catchUp(object, index) { $0 == partner }
        if object.reference(at: index) == partner { object.setManagedValue(.null, at: index) }
    }

    /// Whether an object stays, and has what its properties are read from. No fault fires.
    private func isThere(_ object: NSManagedObject) throws -> Bool {
        guard !object.isDeleted, !object.state.contains(.detached) else { return false }
        return try object.hasNoRow || fulfil(object)
    }

    /// Has an object read its newest row, where that says of a relationship what matters and was not changed here.
    private func catchUp(_ object: NSManagedObject, _ index: Int, where matters: (ObjectKey) -> Bool) throws {
        guard !object.hasNoRow, object.override(index) == nil, let store = object.runtime.store else { return }
        guard store.rows != nil else {
            // Such a store is asked by reading the object anew.
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
    /// Whether the save writes the object as a new one.
    fileprivate final var hasNoRow: Bool { isInserted || storage?.isRevived == true }
}
