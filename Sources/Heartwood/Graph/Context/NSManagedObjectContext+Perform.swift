import Foundation

extension NSManagedObjectContext: PerformingAndWaiting {
    /// The time at which an asynchronous block runs.
    public enum ScheduledTaskType: Sendable {
        /// At once, if the caller is already on the context's queue.
        case immediate
        /// After the blocks that are already queued.
        case enqueued
    }

    /// Implements `perform(_:)`.
    final func enqueue(_ block: sending @escaping () -> Void) {
        guard let queue = confinement.queue else { return CurrentContext.run(self, block) }
        let work = Confined(value: block)
        queue.async { [self] in
            CurrentContext.run(self, work.value)
            endWork()
        }
    }

    /// Implements `performAndWait(_:)`.
    final func runAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        guard let queue = confinement.queue, !queue.isCurrent else { return try CurrentContext.run(self, block) }
        return try queue.sync { () throws(E) -> T in
            defer { endWork() }
            return try CurrentContext.run(self, block)
        }
    }

    /// Runs `block` on the context's queue and returns its result; throws only the error that the block throws.
    ///
    /// The block takes over the values that it captures, as that of `perform(_:)` does, and does not run on the caller's actor. The
    /// compiler does not check the result: if the caller is not on the context's queue, return IDs or values, not managed objects.
    @concurrent
    public final func perform<T, E: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: sending @escaping () throws(E) -> T
    ) async throws(E) -> T {
        guard let queue = confinement.queue else { return try CurrentContext.run(self, block) }
        let work = Confined(value: block)
        // A block that runs at once belongs to the event of the work that called it.
        let isAtOnce = schedule == .immediate && queue.isCurrent
        return try await queue.run(isImmediate: isAtOnce) { [self] () throws(E) -> T in
            defer { if isAtOnce { endPendingChanges() } else { endWork() } }
            return try CurrentContext.run(self, work.value)
        }
    }

    /// Ends a block of work: ends its undo event, sweeps unreferenced objects, and leaves replaced files.
    private func endWork() {
        endUndoEvent()
        sweepIfNeeded()
        leaveReplacedFiles()
    }
}

// In an extension of a protocol, since apps have such methods of their own from before Core Data had one. A class's method goes before these; beside
// another method of the class it would be ambiguous.
extension NSObjectProtocol where Self: NSManagedObjectContext {
    /// Runs `block` on the context's queue and waits for it.
    ///
    /// May be called on the queue itself, also indirectly through another context: if work of A waits for work of B, and that work waits
    /// for A, the block runs at once. Two threads that each hold a context and wait for the other's deadlock, as in Core Data.
    public func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        guard isSubclassed else { return try runAndWait(block) }
        return try resultOfPerforming(block)
    }
}
