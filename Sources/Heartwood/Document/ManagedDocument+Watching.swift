import Foundation
import RecordLog
import Synchronization

/// What a document does by itself: it saves some time after a change, and looks where its file is.
extension ManagedDocument {
    // MARK: Saving

    /// Puts the next save off to a while after now. One block waits, however many changes there are.
    final func scheduleAutosave() {
        let delay: TimeInterval? = standing.withLock { standing in
            guard standing.autosaveDelay.isFinite else { return nil }
            standing.deadline = ContinuousClock.now + .seconds(standing.autosaveDelay)
            guard !standing.isScheduled else { return nil }
            standing.isScheduled = true
            return standing.autosaveDelay
        }
        if let delay { waitForDeadline(delay) }
    }

    private func waitForDeadline(_ delay: TimeInterval) {
        work.asyncAfter(deadline: .now() + delay) { [weak self] in self?.saveIfDue() }
    }

    private func saveIfDue() {
        let left: TimeInterval? = standing.withLock { standing in
            let left = (standing.deadline - ContinuousClock.now) / .seconds(1)
            if left > 0 { return left }
            standing.isScheduled = false
            return nil
        }
        if let left { return waitForDeadline(left) }
        guard !documentState.contains(.closed) else { return }
        do {
            try saveChanges()
        } catch {
            tell { $0.handleError(error) }
        }
    }

    /// Calls a method that may be overridden, on the context's queue.
    private func tell(_ body: @escaping @Sendable (ManagedDocument) -> Void) {
        managedObjectContext.perform { body(self) }
    }

    // MARK: The file

    final func beginWatching() {
        let interval = fileCheckInterval
        guard interval.isFinite else { return }
        let timer = DispatchSource.makeTimerSource(queue: work)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { [weak self] in self?.lookAtFile() }
        timer.resume()
        watch = timer
    }

    final func endWatching() {
        watch?.cancel()
        watch = nil
    }

    /// Goes along with the file where others have moved it, and says what else has become of it.
    final func lookAtFile() {
        guard !documentState.contains(.closed), let store = store as? RecordLogStore, let log = store.log else { return }
        // One that cannot be asked has another trouble, which the next save tells of.
        guard let location = try? log.locate() else { return }
        switch location {
        case .inPlace: change { $0.subtract([.fileMissing, .inConflict]) }
        case .moved(let path): follow(store, to: URL(fileURLWithPath: path))
        case .removed:
            let isKnown = documentState.contains(.fileMissing)
            change { $0.formUnion(.fileMissing) }
            if !isKnown { tell { $0.fileWasRemoved() } }
        case .replaced: noteReplacement()
        }
    }

    private func noteReplacement() {
        let isKnown = documentState.contains(.inConflict)
        change {
            $0.remove(.fileMissing)
            $0.insert(.inConflict)
        }
        if !isKnown { tell { $0.fileWasReplaced() } }
    }

    private func follow(_ store: NSPersistentStore, to url: URL) {
        guard container.persistentStoreCoordinator.setURL(url, for: store) else { return }
        standing.withLock { $0.fileURL = url }
        change { $0.subtract([.fileMissing, .inConflict]) }
        tell { $0.fileDidMove(to: url) }
    }
}
