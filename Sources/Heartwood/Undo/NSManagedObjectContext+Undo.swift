import Foundation

extension NSManagedObjectContext {
    /// What the context's changes are registered with, so that they can be taken back. nil, the default: nothing is kept.
    ///
    /// Each event's changes become one action: attributes, relationships with both sides, insertions, and deletions with what they
    /// cascaded to. Saving keeps what can be undone: an undo after a save changes the objects again, and the next save writes
    /// that. What other contexts save and this one merges is not undone. `rollback()` and `reset()` forget the context's actions.
    ///
    /// Without an undo manager a change costs nothing for this; with one it costs a step of some 100 bytes, kept with the objects it
    /// names until the action is dropped.
    public final var undoManager: UndoManager? {
        get { recorder?.manager }
        set {
            guard newValue !== recorder?.manager else { return }
            endPendingChanges()
            recorder?.forget()
            recorder = newValue.map { UndoRecorder($0, of: self) }
            if newValue == nil { objectFlags.remove(.recorded) } else { objectFlags.insert(.recorded) }
            let flags = objectFlags
            identities.forEach { $0.state = $0.state.subtracting(.recorded).union(flags) }
        }
    }

    /// Takes back the last group of changes. Does nothing without an undo manager, or where there is nothing to take back.
    public final func undo() {
        checkQueue()
        undoManager?.undo()
    }

    /// Makes again what the last undo has taken back.
    public final func redo() {
        checkQueue()
        undoManager?.redo()
    }

    /// Registers what has been changed since this ran last as one action.
    final func registerUndo() {
        guard let recorder, let journal = recorder.take() else { return }
        let manager = recorder.manager
        // Without events to group by, what happened outside of every group is a group.
        let isAlone = !manager.groupsByEvent && manager.groupingLevel == 0
        if isAlone { manager.beginUndoGrouping() }
        manager.registerUndo(withTarget: self) { $0.revert(journal) }
        if isAlone { manager.endUndoGrouping() }
    }

    /// Ends the event, and with it the group that was opened for it.
    final func endUndoEvent() {
        endPendingChanges()
        #if !canImport(ObjectiveC)
            recorder?.manager.endEvent()
        #endif
    }
}
