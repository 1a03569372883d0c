import Dispatch
import Foundation
import RecordLog

/// Keeps the journal of a context that has an undo manager.
final class UndoRecorder {
    let manager: UndoManager
    private(set) var journal = UndoJournal()
    /// The journals that the manager has not dropped.
    private var registered: [Registered] = []
    private var pruneAt = 64
    /// True while a save resolves conflicts: those changes are not the user's.
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
        // Code may use a main-queue context outside `perform`; its event ends when the queue reaches its next block.
        if journal.isEmpty, context.concurrencyType == .mainQueueConcurrencyType {
            DispatchQueue.main.async { [weak context] in context?.endUndoEvent() }
        }
        journal.append(step)
    }

    /// Hands over the journal; nil if it is empty. Changes made before registration was disabled wait.
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

    /// Moves the row references of every step to new addresses.
    func moveRows(_ move: (UnsafeRowView, NSManagedObject) -> UnsafeRowView) {
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
