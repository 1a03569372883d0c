import Foundation
import RecordLog

extension NSManagedObject {
    /// The row to read from; nil for an object that has none (not saved yet, or gone from the store).
    @inline(__always)
    final var row: RowView? {
        if rowBody == nil || !state.isDisjoint(with: .attended) { loadRow() }
        return boundRow
    }

    /// The row that the object points at; its fault does not fire.
    @inline(__always)
    final var boundRow: RowView? {
        guard let rowBody else { return nil }
        return RowView(
            body: rowBody, byteCount: Int(rowByteCount), reference: RowReference(rawValue: key.rawValue), version: rowVersion)
    }

    /// Reads the row, and fires the fault where this is one.
    @inline(never)
    private final func loadRow() {
        checkQueue("a property")
        guard !state.contains(.inserted) || rowBody != nil else {
            // It may have been refreshed before its first save.
            state.remove(.fault)
            return
        }
        // One that never belonged to a context has values of its own alone.
        guard !key.isNone else { return }
        guard !state.contains(.inaccessible) else { return }
        if state.contains(.fault), rowBody != nil, !state.contains(.detached) {
            // No reference is counted: this is done for each object that is read.
            contextReference?._withUnsafeGuaranteedRef { context in
                if context.stalenessInterval >= 0 { context.unbindStale(self) }
            }
        }
        if rowBody == nil, storage?.base == nil {
            guard let context = managedObjectContext else {
                preconditionFailure(
                    "A fault of \(entity.name ?? "?") was asked for its values after its context had gone. "
                        + "Keep the context (or its container) alive as long as its objects.")
            }
            guard context.readRow(of: self) else { return context.failToFulfill(self) }
        }
        if state.contains(.fault) {
            state.remove(.fault)
            // Whether the class overrides it is not asked: that counts a reference, for each object that is read.
            waking { awakeFromFetch() }
            // A context that is gone is not looked at.
            guard !state.contains(.detached) else { return }
            contextReference?._withUnsafeGuaranteedRef { context in
                if !context.laterBatches.isEmpty { context.openBatch(of: self) }
            }
        }
    }

    /// Points the object at a row that a fetch or a look-up has found.
    @inline(__always)
    final func bind(_ row: RowView) {
        rowBody = row.body
        rowByteCount = UInt32(truncatingIfNeeded: row.byteCount)
        rowVersion = row.version
    }

    /// Forgets the row and every value, so that the next read asks the store.
    final func becomeFault() {
        storage?.publisher?.send()
        let isTold = !isFault && !runtime.isPlainClass
        if isTold { willTurnIntoFault() }
        forgetRow()
        dropValues()
        storage?.eventValues = nil
        storage?.fetched = [:]
        state.remove(.inaccessible)
        state.insert(.fault)
        if isTold { didTurnIntoFault() }
    }

    /// Goes back to the values last fetched or saved.
    final func restore() {
        if !state.isDisjoint(with: [.inaccessible, .outdated]) { return becomeFault() }
        storage?.publisher?.send()
        dropValues()
        storage?.eventValues = nil
        guard !isFault else { return }
        wake(fromSnapshotEvents: .rollback)
    }

    final func wake(fromSnapshotEvents events: NSSnapshotEventType) {
        guard !runtime.isPlainClass else { return }
        waking { awake(fromSnapshotEvents: events) }
    }

    /// Runs what may set values without a change to be saved.
    final func waking(_ body: () -> Void) {
        let wasWaking = state.contains(.waking)
        state.insert(.waking)
        body()
        if !wasWaking { state.remove(.waking) }
    }

    /// What `willAccessValue(forKey:)` does where nothing overrides it.
    final func fireFault() {
        if isFault { _ = row }
    }

    /// What `willChangeValue(forKey:)` does where nothing overrides it.
    final func noteChange(ofKey key: String) {
        checkQueue("willChangeValue(forKey:)")
        storage?.publisher?.send()
        if runtime.index(of: key) == nil, type(of: self).contextShouldIgnoreUnmodeledPropertyChanges { return }
        if state.contains(.recorded), let index = runtime.index(of: key), runtime.properties[index].kind != .toMany { recordValue(index) }
        noteChange()
    }
}
