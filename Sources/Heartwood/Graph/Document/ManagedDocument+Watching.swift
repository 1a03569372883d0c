import Foundation
import RecordLog
import Synchronization

/// Automatic work of a document: it saves some time after a change, and checks the location of its file.
extension ManagedDocument {
    // MARK: Saving

    /// Postpones the next save until `autosaveDelay` after now. One queued block serves any number of changes; a shorter delay queues
    /// another block.
    final func scheduleAutosave() {
        let time: ContinuousClock.Instant? = locked.withLock { locked in
            guard locked.autosaveDelay.isFinite, let delay = Duration(bounding: locked.autosaveDelay) else { return nil }
            locked.deadline = ContinuousClock.now + delay
            if let next = locked.nextCheck, next <= locked.deadline { return nil }
            locked.nextCheck = locked.deadline
            return locked.deadline
        }
        if let time { wait(for: time) }
    }

    private func wait(for time: ContinuousClock.Instant) {
        work.asyncAfter(deadline: .now() + (time - ContinuousClock.now) / .seconds(1)) { [weak self] in self?.saveIfDue(time) }
    }

    /// - Parameter time: the block's time; a block with an outdated one does nothing.
    private func saveIfDue(_ time: ContinuousClock.Instant) {
        let (isDue, next) = locked.withLock { locked -> (Bool, ContinuousClock.Instant?) in
            guard locked.nextCheck == time else { return (false, nil) }
            let isDue = locked.deadline <= ContinuousClock.now
            locked.nextCheck = isDue ? nil : locked.deadline
            return (isDue, locked.nextCheck)
        }
        if let next { wait(for: next) }
        guard isDue, !documentState.contains(.closed) else { return }
        do {
            try saveChanges()
        } catch {
            notify { $0.handleError(error) }
        }
    }

    /// Calls an overridable method on the context's queue.
    private func notify(_ body: @escaping @Sendable (ManagedDocument) -> Void) {
        managedObjectContext.perform { body(self) }
    }

    // MARK: The file

    final func beginWatching() {
        guard fileCheckInterval.isFinite else { return }
        // A timer supports neither an interval of zero nor an unlimited one.
        let interval = min(max(fileCheckInterval, 0.01), 1e9)
        let timer = DispatchSource.makeTimerSource(queue: work)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { [weak self] in self?.checkFile() }
        timer.resume()
        watch = timer
    }

    final func endWatching() {
        watch?.cancel()
        watch = nil
    }

    /// Follows the file if another program has moved it, and records whether it was removed or replaced.
    final func checkFile() {
        guard !documentState.contains(.closed), let store = store?.ownLog, let log = store.log else { return }
        // If the file cannot be examined, the next save reports the reason.
        guard let location = try? log.locate() else { return }
        switch location {
        case .inPlace: change { $0.subtract([.fileMissing, .inConflict]) }
        case .moved(let path): follow(store, to: URL(fileURLWithPath: path))
        case .removed:
            let isKnown = documentState.contains(.fileMissing)
            change { $0.formUnion(.fileMissing) }
            if !isKnown { notify { $0.fileWasRemoved() } }
        case .replaced: noteReplacement()
        }
    }

    private func noteReplacement() {
        let isKnown = documentState.contains(.inConflict)
        change {
            $0.remove(.fileMissing)
            $0.insert(.inConflict)
        }
        if !isKnown { notify { $0.fileWasReplaced() } }
    }

    private func follow(_ store: NSPersistentStore, to url: URL) {
        guard container.persistentStoreCoordinator.setURL(url, for: store) else { return }
        locked.withLock { $0.fileURL = url }
        change { $0.subtract([.fileMissing, .inConflict]) }
        notify { $0.fileDidMove(to: url) }
    }
}
