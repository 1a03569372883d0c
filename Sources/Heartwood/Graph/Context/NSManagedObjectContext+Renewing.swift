import Foundation
import RecordLog

/// Weak semantics without weak references: what only the context holds is never older than the fetch or look-up that returns it.
///
/// A context begins an epoch when it learns of a commit of others. An object has the epoch in which it was made, or in which it was last
/// found while only the context held it. So a look-up compares two numbers if nothing has changed. If an object of an older epoch is found:
/// 1. An object that the program has changed or holds stays as it is.
/// 2. So does an object that another object holds by a relationship (`keeps`).
/// 3. Otherwise its row is compared with the newest one. If it is the same, the object stays; if not, the context releases it and makes a new one,
///    as if the object had been released when the program let go of it.
extension NSManagedObjectContext {
    /// Returns the object of `key`: the registered one, or a new fault; nil if no store has the entity.
    /// - Parameter owner: the object whose relationship is followed.
    @inline(__always)
    final func object(for key: ObjectKey, of owner: NSManagedObject? = nil) -> NSManagedObject? {
        guard let known = identities.reference(to: key) else { return makeFault(key) }
        guard known._withUnsafeGuaranteedRef({ $0.epoch }) == making.epoch, ChangeClock.now == readState.clock
        else { return reconsidered(key, of: owner) }
        return known.takeUnretainedValue()
    }

    /// Returns the registered object of a row. If it is a fault, it is bound to this row.
    @inline(__always)
    final func registered(_ key: ObjectKey, at row: UnsafeRowView) -> NSManagedObject? {
        guard let reference = identities.reference(to: key) else { return nil }
        guard reference._withUnsafeGuaranteedRef({ $0.epoch }) == making.epoch else { return reconsidered(key, at: row) }
        let known = reference.takeUnretainedValue()
        if known.isFault {
            known.bind(row)
            if known.storage != nil { known.forgetMembers() }
        }
        return known
    }

    /// Begins an epoch if a store has commits that this context has not seen, or if the parent may have changed.
    final func learnOfChanges() {
        let now = ChangeClock.now
        guard now != readState.clock else { return }
        readState.clock = now
        let commits = coordinator?.commits.now ?? 0, changes = tree.changes.now
        let isCommitted = commits != readState.commitsSeen, isChanged = changes != readState.changesSeen
        readState.commitsSeen = commits
        readState.changesSeen = changes
        guard parentContext == nil else {
            if isCommitted || isChanged { beginEpoch() }
            return
        }
        for (slotBase, view) in readState.views.list {
            if view.commit == nil {
                if isCommitted { beginEpoch() }
            } else if !view.isNewest, let store = coordinator?.persistentStores.first(where: { $0.slotBase == slotBase }) {
                // If the store cannot be read, a later read reports it.
                _ = try? self.view(of: store)
            }
        }
    }

    @inline(__always)
    final func beginEpoch() { making.epoch &+= 1 }

    /// Takes over the commits that this context has just made. If others have not committed since this context's last read, no epoch begins:
    /// the context's objects are as it has saved them.
    final func takeOwnCommits(_ batches: [(NSPersistentStore, SaveBatch)]) {
        coordinator?.commits.note()
        guard readState.generation == nil else { return }
        for (store, batch) in batches where batch.isCommitted {
            guard let known = readState.views[store.slotBase]?.commit, let view = try? store.seam.newestView(for: self), view.commit == known + 1
            else { continue }
            take(view, of: store)
        }
    }

    // An object is counted as held if anything but the map refers to it, so these functions refer to it by its key.

    @inline(never)
    private func reconsidered(_ key: ObjectKey, of owner: NSManagedObject?) -> NSManagedObject? {
        learnOfChanges()
        guard let known = identities.reference(to: key) else { return makeFault(key) }
        let epoch = known._withUnsafeGuaranteedRef { $0.epoch }
        guard epoch != making.epoch, identities.isUnheld(key), owner?.keeps(objectOf: epoch) != true else { return known.takeUnretainedValue() }
        let row = newestRow(key)
        if let renewed = renewed(known, key, at: row) { return renewed }
        let object = makeFault(key)
        if let row, let object { object.bind(row) }
        return object
    }

    @inline(never)
    private func reconsidered(_ key: ObjectKey, at row: UnsafeRowView) -> NSManagedObject? {
        guard let known = identities.reference(to: key) else { return nil }
        guard identities.isUnheld(key) else {
            let object = known.takeUnretainedValue()
            if object.isFault { object.rebind(row, making.epoch) }
            return object
        }
        return renewed(known, key, at: row)
    }

    /// Gives an object that only the map refers to the newest row. If a new object would differ, this one is released.
    /// - Returns: nil if it was released.
    private func renewed(_ known: Unmanaged<NSManagedObject>, _ key: ObjectKey, at row: UnsafeRowView?) -> NSManagedObject? {
        if known._withUnsafeGuaranteedRef({ $0.renew(at: row, making.epoch) }) { return known.takeUnretainedValue() }
        identities.remove(key)
        return nil
    }

    /// Makes sure that a registered object, if it was read in an older epoch, does not count as read any more: only the context held it, or it is
    /// a fault.
    /// - Returns: whether the object is registered and needs no row.
    final func isAtHand(_ key: ObjectKey) -> Bool {
        guard let known = identities.reference(to: key) else { return false }
        if known._withUnsafeGuaranteedRef({ $0.epoch }) != making.epoch {
            identities.releaseUnheld(key)
            guard identities.reference(to: key) != nil else { return false }
            known._withUnsafeGuaranteedRef { $0.unbindFault(making.epoch) }
        }
        return known._withUnsafeGuaranteedRef { $0.rowBody != nil || $0.isInserted }
    }

    /// The newest row of a key, where a store reads it at no cost; nil if there is none, if it cannot be read, and in a child.
    private func newestRow(_ key: ObjectKey) -> UnsafeRowView? {
        guard parentContext == nil, !key.isTemporary, let store = runtime(slot: key.slot)?.store, store.traits.contains(.rereadsRows)
        else { return nil }
        return try? view(of: store).row(key)
    }
}

extension NSManagedObject {
    /// Whether this object has led to an object that had this epoch. As on Apple's platforms a relationship that was followed holds its destination,
    /// so that what a program has read through it stays, and its save finds the conflict.
    fileprivate final func keeps(objectOf epoch: UInt32) -> Bool { state.contains(.followed) && epoch >= self.epoch }

    /// Notes that a relationship was followed.
    @inline(__always)
    final func noteFollowed() {
        if !state.contains(.followed) { state.insert(.followed) }
    }

    /// Takes over the newest row, if a new object would be the same.
    /// - Parameter row: nil if it is unknown.
    fileprivate final func renew(at row: UnsafeRowView?, _ epoch: UInt32) -> Bool {
        guard storage?.hasOnlyID ?? true, !state.contains(.inaccessible) else { return false }
        if let row {
            guard isFault || shows(row) else { return false }
            bind(row)
        } else {
            // A fault without a row reads the newest one when it fires.
            guard isFault, rowBody == nil, rowVersion == 0 else { return false }
        }
        state.remove(.followed)
        self.epoch = epoch
        return true
    }

    private func shows(_ row: UnsafeRowView) -> Bool {
        guard rowVersion == row.version else { return false }
        guard let rowBody, rowBody != row.body else { return true }
        // A row that is inserted again after a compaction counts its versions from the start.
        return Int(rowByteCount) == row.byteCount && (runtime.hasExternalData || memcmp(rowBody, row.body, row.byteCount) == 0)
    }

    /// Binds a fault that the program holds to a newer row.
    fileprivate final func rebind(_ row: UnsafeRowView, _ epoch: UInt32) {
        bind(row)
        self.epoch = epoch
        if storage != nil { forgetMembers() }
    }

    /// Makes a fault that was bound in an older epoch read its newest row when it fires.
    final func unbindFault(_ epoch: UInt32) {
        guard isFault, self.epoch != epoch, state.isDisjoint(with: .changed), storage?.values.isEmpty ?? true else { return }
        forgetRow()
        self.epoch = epoch
    }
}

extension NSManagedObject {
    /// Notes that what a child has read of this object is no longer its state.
    @inline(__always)
    final func noteHidden() {
        state.remove(.shown)
        guard !state.contains(.detached) else { return }
        contextReference?._withUnsafeGuaranteedRef { if $0.tree.hasChildren { $0.tree.changes.note() } }
    }
}
