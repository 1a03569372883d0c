import Foundation
import RecordLog

extension NSManagedObject {
    /// The row to read from. It fires the fault. nil for an object without a row (not saved yet, or gone from the store).
    @inline(__always)
    final var row: UnsafeRowView? {
        if rowBody == nil || !state.isDisjoint(with: .attended) { loadRow() }
        return boundRow
    }

    /// The row that the object points to, without firing its fault.
    @inline(__always)
    final var boundRow: UnsafeRowView? {
        guard let rowBody else { return nil }
        return UnsafeRowView(
            body: rowBody, byteCount: Int(rowByteCount), reference: RowReference(rawValue: key.rawValue), version: rowVersion)
    }

    /// Reads the row, and fires the object's fault.
    @inline(never)
    private final func loadRow() {
        checkQueue("a property")
        guard !state.contains(.inserted) || rowBody != nil else {
            // It may have been refreshed before its first save.
            state.remove(.fault)
            return
        }
        // An object that never belonged to a context has only its own values.
        guard !key.isNone else { return }
        guard !state.contains(.inaccessible) else { return }
        if state.contains(.fault), rowBody != nil, !state.contains(.detached) {
            // Takes no reference count, since this runs for each object that is read.
            contextReference?._withUnsafeGuaranteedRef { context in
                if context.stalenessInterval >= 0 { context.unbindStale(self) }
            }
        }
        if rowBody == nil, storage?.base == nil {
            guard let context = managedObjectContext else {
                misuse(
                    "A fault of \(entity.name ?? "?") was asked for its values after its context had gone. "
                        + "Keep the context (or its container) alive as long as its objects.")
            }
            guard context.readRow(of: self) else { return context.failToFulfill(self) }
        }
        if state.contains(.fault) {
            state.remove(.fault)
            // Called without a test for an override, which would take a reference count for each object that is read.
            waking { awakeFromFetch() }
            // The override may have released the context.
            guard !state.contains(.detached) else { return }
            contextReference?._withUnsafeGuaranteedRef { context in
                if !context.queries.laterBatches.isEmpty { context.openBatch(of: self) }
            }
        }
    }

    /// Points the object to a row that a fetch or a lookup has found.
    @inline(__always)
    final func bind(_ row: UnsafeRowView) {
        rowBody = row.body
        rowByteCount = UInt32(truncatingIfNeeded: row.byteCount)
        rowVersion = row.version
    }

    /// Forgets the row and all values, so that the next read reads the store.
    final func becomeFault() {
        noteHidden()
        let callsHooks = !isFault && !runtime.isPlainClass
        if callsHooks { willTurnIntoFault() }
        forgetRow()
        dropValues()
        storage?.eventValues = nil
        storage?.fetched = [:]
        state.subtract([.inaccessible, .followed])
        state.insert(.fault)
        if callsHooks { didTurnIntoFault() }
        // An observer that reads the object fires its fault. As on Apple's platforms it reads the newest values.
        storage?.publisher?.send()
    }

    /// Returns to the values last fetched or saved.
    final func restore() {
        if !state.isDisjoint(with: [.inaccessible, .outdated]) { return becomeFault() }
        noteHidden()
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

    /// Runs a closure whose changes to values are not saved.
    final func waking(_ body: () -> Void) {
        let wasWaking = state.contains(.waking)
        state.insert(.waking)
        body()
        if !wasWaking { state.remove(.waking) }
    }

    /// Implements the default of `willAccessValue(forKey:)`.
    final func fireFault() {
        if isFault { _ = row }
    }

    /// Implements the default of `willChangeValue(forKey:)`.
    final func noteChange(ofKey key: String) {
        checkQueue("willChangeValue(forKey:)")
        storage?.publisher?.send()
        if runtime.index(of: key) == nil, type(of: self).contextShouldIgnoreUnmodeledPropertyChanges { return }
        if state.contains(.recorded), let index = runtime.index(of: key), runtime.properties[index].kind != .toMany { recordValue(index) }
        noteChange()
    }
}
