import Foundation

extension NSManagedObjectContext {
    /// Implements the setter of `undoManager`.
    final func setUndoManager(_ newValue: UndoManager?) {
        guard newValue !== recorder?.manager else { return }
        endPendingChanges()
        recorder?.forget()
        recorder = newValue.map { UndoRecorder($0, of: self) }
        if newValue == nil { making.objectFlags.remove(.recorded) } else { making.objectFlags.insert(.recorded) }
        let flags = making.objectFlags
        identities.forEach { $0.state = $0.state.subtracting(.recorded).union(flags) }
    }

    /// Implements `undo()`.
    final func performUndo() {
        checkQueue("undo()")
        undoManager?.undo()
    }

    /// Implements `redo()`.
    final func performRedo() {
        checkQueue("redo()")
        undoManager?.redo()
    }

    /// Registers the changes since the last call as one action.
    final func registerUndo() {
        guard let recorder, let journal = recorder.take() else { return }
        let manager = recorder.manager
        // Without groups by event, changes outside every group become a group of their own.
        let isAlone = !manager.groupsByEvent && manager.groupingLevel == 0
        if isAlone { manager.beginUndoGrouping() }
        manager.registerUndo(withTarget: self) { $0.revert(journal) }
        if isAlone { manager.endUndoGrouping() }
    }

    /// Ends the event, and the group that was opened for it.
    final func endUndoEvent() {
        endPendingChanges()
        #if !canImport(ObjectiveC)
            recorder?.manager.endEvent()
        #endif
    }
}
