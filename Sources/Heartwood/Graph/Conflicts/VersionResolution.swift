import Foundation
import RecordLog

/// Prepares one object for a repeated save after another context or process has changed or deleted its row. Merges three states: the row
/// that the object was read from, the newest row, and the object's changes.
///
/// To-many changes are added and removed members, so they merge member by member without a conflict.
struct VersionResolution {
    private let object: NSManagedObject
    private let context: NSManagedObjectContext
    private let type: NSMergePolicyType
    /// The newest row in the store; nil if the row is gone.
    private let newest: UnsafeRowView?

    /// - Returns: nil for an object that an earlier conflict of the list has removed from its context.
    init?(_ object: NSManagedObject, _ type: NSMergePolicyType) throws {
        guard let context = object.managedObjectContext, let store = object.runtime.store else { return nil }
        self.object = object
        self.context = context
        self.type = type
        // A child context has a conflict only if its parent no longer has the object.
        newest = context.parentContext == nil ? try context.view(of: store).row(object.key) : nil
    }

    private var isStoreFirst: Bool {
        type == .mergeByPropertyStoreTrumpMergePolicyType || type == .rollbackMergePolicyType
    }

    func run() throws {
        if object.isDeleted {
            try resolveDeletion()
        } else if let newest {
            resolveUpdate(newest)
            context.noteEvent(.refreshed, object)
            if !object.isFault { object.wake(fromSnapshotEvents: .mergePolicy) }
        } else if isStoreFirst {
            context.noteEvent(.deleted, object)
            context.forget(gone: object)
        } else {
            revive()
        }
    }

    private func resolveDeletion() throws {
        guard isStoreFirst, newest != nil else {
            // The deletion wins over the newest row.
            guard let newest else { return object.forgetRow() }
            object.bind(newest)
            // The newest row may have new destinations and members; the delete rules apply to them as well.
            object.dropValues()
            return try context.followDeleteRules(of: object)
        }
        context.forgetChanges(of: object)
        object.becomeFault()
        context.noteEvent(.inserted, object)
    }

    private func resolveUpdate(_ newest: UnsafeRowView) {
        guard type != .rollbackMergePolicyType else {
            for (index, property) in object.runtime.properties.enumerated() where property.kind == .toOne {
                if let ours = object.override(index) { dropOtherSides(ours, index) }
            }
            context.forgetChanges(of: object)
            object.becomeFault()
            return
        }
        let storage = object.changeStorage()
        storage.publisher?.send()
        for (index, property) in object.runtime.properties.enumerated() where property.hasColumn {
            let ours = storage.values[index]
            let base = object.committedValue(index), theirs = object.committedValue(index, in: newest)
            if type == .overwriteMergePolicyType {
                if ours.isUnset { storage.values[index] = withoutGone(base) }
                if !theirs.isEqual(to: storage.values[index]) { freePartner(theirs, index) }
                continue
            }
            guard !ours.isUnset else { continue }
            let isOurs = !object.isSame(ours, base, index), isTheirs = !object.isSame(theirs, base, index)
            if isOurs, type == .mergeByPropertyObjectTrumpMergePolicyType || !isTheirs {
                if isTheirs, !theirs.isEqual(to: ours) { freePartner(theirs, index) }
                continue
            }
            storage.values[index] = .unset
            if isOurs { dropOtherSides(ours, index) }
        }
        object.bind(newest)
    }

    /// Undoes our change of a to-one relationship on the other sides.
    private func dropOtherSides(_ ours: ManagedValue, _ index: Int) {
        dropPartner(ours, index)
        object.withdraw(from: ours.destination, at: index)
    }

    /// Undoes our change of a one-to-one relationship on the other side.
    private func dropPartner(_ value: ManagedValue, _ index: Int) {
        let property = object.runtime.properties[index]
        guard case .reference(let key) = value, !key.isNone, let inverse = property.inverse, !property.inverseIsToMany,
            let other = context.registeredObject(for: key), other.reference(at: inverse) == object.key
        else { return }
        other.changeStorage().values[inverse] = .unset
    }

    /// Our one-to-one relationship wins: clears the relationship of the object that the store has paired with our new partner.
    private func freePartner(_ value: ManagedValue, _ index: Int) {
        let property = object.runtime.properties[index]
        guard case .reference(let key) = value, !key.isNone, let inverse = property.inverse, !property.inverseIsToMany,
            let other = context.object(for: key)
        else { return }
        context.performRefresh(of: other, mergeChanges: true)
        if other.reference(at: inverse) == object.key { other.setManagedValue(.null, at: inverse) }
    }

    /// Prepares an object whose row is gone to be written again under its old ID, with the values that it was read with.
    private func revive() {
        let storage = object.changeStorage()
        for (index, property) in object.runtime.properties.enumerated() where property.hasColumn && storage.values[index].isUnset {
            storage.values[index] = withoutGone(object.committedValue(index))
        }
        // Its members were deleted with its row.
        if context.parentContext == nil { object.forgetMembers() }
        storage.isRevived = true
        object.forgetRow()
    }

    /// Returns a value to write again; null if its destination is gone.
    private func withoutGone(_ value: ManagedValue) -> ManagedValue {
        guard case .reference(let key) = value, !key.isNone, !key.isTemporary, let store = object.runtime.store,
            (try? context.view(of: store).row(key)) ?? nil == nil
        else { return value }
        return .null
    }
}

extension NSManagedObjectContext {
    /// Removes an object from the context because the store no longer has its row.
    final func forget(gone object: NSManagedObject) {
        replaceReferences(to: object.key, with: .none)
        forgetChanges(of: object)
        identities.remove(object.key)
        object.state.insert([.deleted, .detached, .inaccessible])
        object.forgetRow()
    }

    /// Replaces the object with `key` by another one, or by none, in the changed values of this context.
    final func replaceReferences(to key: ObjectKey, with new: ObjectKey) {
        for object in pending.listed {
            guard let storage = object.storage, !storage.values.isEmpty else { continue }
            for index in storage.values.indices {
                switch storage.values[index] {
                case .reference(key): storage.values[index] = new.isNone || new == object.key ? .null : .reference(new)
                case .toMany(let state) where state.contains(key) == true:
                    state.remove(key)
                    if !new.isNone, new != object.key { state.add(new) }
                default: break
                }
            }
        }
    }
}

extension NSManagedObject {
    /// Forgets the row that the object was read from, and with it the version: the next save compares nothing.
    final func forgetRow() {
        rowBody = nil
        rowVersion = 0
        state.remove(.outdated)
        storage?.base = nil
    }
}
