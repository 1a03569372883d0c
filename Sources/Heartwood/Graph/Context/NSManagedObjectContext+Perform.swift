import Foundation

extension NSManagedObjectContext: PerformingAndWaiting {
    /// When an asynchronous block runs.
    public enum ScheduledTaskType: Sendable {
        /// At once where the caller is on the context's queue already.
        case immediate
        /// After what is queued already.
        case enqueued
    }

    /// What `perform(_:)` does.
    final func enqueue(_ block: sending @escaping () -> Void) {
        guard let queue else { return CurrentContext.run(self, block) }
        let work = Confined(value: block)
        queue.async { [self] in
            CurrentContext.run(self, work.value)
            endWork()
        }
    }

    /// Runs `block` on the context's queue and waits for it.
    ///
    /// May be called from the queue itself, also by way of another context: in work of A that waits for work of B, waiting for A runs
    /// the block at once. Two threads that hold a context each and wait for the other's deadlock, as in Core Data.
    public final func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        guard isSubclassed else { return try runAndWait(block) }
        return try resultOfPerforming(block)
    }

    /// What `performAndWait(_:)` does.
    final func runAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        guard let queue, !queue.isCurrent else { return try CurrentContext.run(self, block) }
        return try queue.sync { () throws(E) -> T in
            defer { endWork() }
            return try CurrentContext.run(self, block)
        }
    }

    /// Runs `block` on the context's queue and gives its result; throws what it throws, and nothing where it does not.
    ///
    /// The block takes over what it refers to, as that of `perform(_:)` does; it is no part of the actor that its code stands in. Of
    /// what it gives back the compiler knows nothing: let that be IDs or values, not managed objects, where the caller is not on
    /// the context's queue.
    @concurrent
    public final func perform<T, E: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: sending @escaping () throws(E) -> T
    ) async throws(E) -> T {
        guard let queue else { return try CurrentContext.run(self, block) }
        let work = Confined(value: block)
        // What runs at once is a part of somebody's event.
        let isAtOnce = schedule == .immediate && queue.isCurrent
        return try await queue.run(isImmediate: isAtOnce) { [self] () throws(E) -> T in
            defer { if isAtOnce { endPendingChanges() } else { endWork() } }
            return try CurrentContext.run(self, work.value)
        }
    }

    /// Ends a piece of work: ends its event, and lets go of objects without references and of replaced files.
    private func endWork() {
        endUndoEvent()
        sweepIfWanted()
        leaveReplacedFiles()
    }
}
