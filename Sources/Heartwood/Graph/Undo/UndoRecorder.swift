import Dispatch
import Foundation
import RecordLog

/// Keeps the journal of a context that has an undo manager.
final class UndoRecorder {
    let manager: UndoManager
    private(set) var journal = UndoJournal()
    /// Those that the manager has, as far as it has not dropped them.
    private var registered: [Registered] = []
    private var pruneAt = 64
    /// While a save resolves conflicts: what it makes of objects then is not the user's doing.
    var isSuspended = false
    private unowned let context: NSManagedObjectContext
    private let observation: any NSObjectProtocol

    init(_ manager: UndoManager, of context: NSManagedObjectContext) {
        self.manager = manager
        self.context = context
        observation = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { [weak context] _ in context?.endPendingChanges() }
    }

    deinit {
        NotificationCenter.default.removeObserver(observation)
    }

    var isRecording: Bool { !isSuspended && manager.isUndoRegistrationEnabled }

    func note(_ step: UndoStep) {
        // A main-queue context may be used outside perform; its event ends when the queue comes to its next work.
        if journal.isEmpty, context.concurrencyType == .mainQueueConcurrencyType {
            DispatchQueue.main.async { [weak context] in context?.endUndoEvent() }
        }
        journal.append(step)
    }

    /// Hands over the journal; nil where nothing is in it. What was changed before registration was disabled waits.
    func take() -> UndoJournal? {
        guard !journal.isEmpty, manager.isUndoRegistrationEnabled else { return nil }
        let taken = journal
        journal = UndoJournal()
        registered.append(Registered(journal: taken))
        if registered.count >= pruneAt {
            registered.removeAll { $0.journal == nil }
            pruneAt = max(64, registered.count * 2)
        }
        return taken
    }

    /// Names the rows of every step at their new places.
    func moveRows(_ move: (RowView, NSManagedObject) -> RowView) {
        journal.moveRows(move)
        for registered in registered { registered.journal?.moveRows(move) }
    }

    func forget() {
        journal = UndoJournal()
        registered = []
        manager.removeAllActions(withTarget: context)
    }

    private struct Registered {
        weak var journal: UndoJournal?
    }
}
