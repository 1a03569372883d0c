import Foundation

extension NSManagedObjectContext {
    /// What setting `undoManager` does.
    final func setUndoManager(_ newValue: UndoManager?) {
        guard newValue !== recorder?.manager else { return }
        endPendingChanges()
        recorder?.forget()
        recorder = newValue.map { UndoRecorder($0, of: self) }
        if newValue == nil { objectFlags.remove(.recorded) } else { objectFlags.insert(.recorded) }
        let flags = objectFlags
        identities.forEach { $0.state = $0.state.subtracting(.recorded).union(flags) }
    }

    /// What `undo()` does.
    final func performUndo() {
        checkQueue("undo()")
        undoManager?.undo()
    }

    /// What `redo()` does.
    final func performRedo() {
        checkQueue("redo()")
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
