import Foundation
import RecordLog

/// Makes one object fit for the save after its row was changed or deleted by somebody else: a merge of three states, which are
/// the row that the object was read from, the row as it is now, and the object's changes.
///
/// To-many changes are added and removed members, so they merge member by member and take no side.
struct VersionResolution {
    private let object: NSManagedObject
    private let context: NSManagedObjectContext
    private let type: NSMergePolicyType
    /// What the store has now; nil where the row is gone.
    private let newest: RowView?

    /// - Returns: nil for an object that an earlier conflict of the list has taken out of its context.
    init?(_ object: NSManagedObject, _ type: NSMergePolicyType) throws {
        guard let context = object.managedObjectContext, let store = object.runtime.store else { return nil }
        self.object = object
        self.context = context
        self.type = type
        // A child has a conflict only where its parent has the object no more.
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
            // It goes, whatever its row has become.
            guard let newest else { return object.forgetRow() }
            object.bind(newest)
            // Whoever has come to it since points at it no more.
            object.dropValues()
            return try context.followDeleteRules(of: object)
        }
        context.forgetChanges(of: object)
        object.becomeFault()
        context.noteEvent(.inserted, object)
    }

    private func resolveUpdate(_ newest: RowView) {
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

    /// Where our change of a to-one relationship was dropped, so is what it did to the other sides.
    private func dropOtherSides(_ ours: ManagedValue, _ index: Int) {
        dropPartner(ours, index)
        object.withdraw(from: ours.destination, at: index)
    }

    /// Where our change of a one-to-one relationship was dropped, so is the other side of it.
    private func dropPartner(_ value: ManagedValue, _ index: Int) {
        let property = object.runtime.properties[index]
        guard case .reference(let key) = value, !key.isNone, let inverse = property.inverse, !property.inverseIsToMany,
            let other = context.registeredObject(for: key), other.reference(at: inverse) == object.key
        else { return }
        other.changeStorage().values[inverse] = .unset
    }

    /// Where our one-to-one relationship wins, whoever the store has in our partner's place points here no more.
    private func freePartner(_ value: ManagedValue, _ index: Int) {
        let property = object.runtime.properties[index]
        guard case .reference(let key) = value, !key.isNone, let inverse = property.inverse, !property.inverseIsToMany,
            let other = context.object(for: key)
        else { return }
        context.performRefresh(of: other, mergeChanges: true)
        if other.reference(at: inverse) == object.key { other.setManagedValue(.null, at: inverse) }
    }

    /// The row is gone and the object is to stay: it is written again under its old ID, with all that it was read with.
    private func revive() {
        let storage = object.changeStorage()
        for (index, property) in object.runtime.properties.enumerated() where property.hasColumn && storage.values[index].isUnset {
            storage.values[index] = withoutGone(object.committedValue(index))
        }
        // Its members went with its row.
        if context.parentContext == nil { object.forgetMembers() }
        storage.isRevived = true
        object.forgetRow()
    }

    /// A value that is written again. What it points at may have gone meanwhile.
    private func withoutGone(_ value: ManagedValue) -> ManagedValue {
        guard case .reference(let key) = value, !key.isNone, !key.isTemporary, let store = object.runtime.store,
            (try? context.view(of: store).row(key)) ?? nil == nil
        else { return value }
        return .null
    }
}

extension NSManagedObjectContext {
    /// Takes an object out of the context because its row is gone from the store.
    final func forget(gone object: NSManagedObject) {
        replaceReferences(to: object.key, with: .none)
        forgetChanges(of: object)
        identities.remove(object.key)
        object.state.insert([.deleted, .detached, .inaccessible])
        object.forgetRow()
    }

    /// Makes what this context has changed point at another object, or at none, in place of the one with `key`.
    final func replaceReferences(to key: ObjectKey, with new: ObjectKey) {
        for object in listed {
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
    /// Forgets which row the object was read from, and so its version: the next save compares nothing.
    final func forgetRow() {
        rowBody = nil
        rowVersion = 0
        state.remove(.outdated)
        storage?.base = nil
    }
}
