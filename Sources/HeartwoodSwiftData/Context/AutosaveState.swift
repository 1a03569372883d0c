import Foundation
import Synchronization

/// Whether a save of the main context is waiting for the main queue.
final class AutosaveState: Sendable {
    private enum State { case idle, waiting, ended }
    private let state = Mutex(State.idle)

    /// Saves the context when the main queue comes to it: after the work that makes the change.
    func schedule(_ context: ModelContext) {
        let isFirst = state.withLock { state in
            guard state == .idle else { return false }
            state = .waiting
            return true
        }
        guard isFirst else { return }
        let weak = WeakModelContext(context: context)
        DispatchQueue.main.async { [self] in
            state.withLock { if $0 == .waiting { $0 = .idle } }
            guard let context = weak.context, context.autosaveEnabled, context.hasChanges else { return }
            // An error stays to be thrown by the program's own save, which meets it again.
            try? context.save()
        }
    }

    func end() { state.withLock { $0 = .ended } }
}
