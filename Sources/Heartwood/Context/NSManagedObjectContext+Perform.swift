import Dispatch
import Foundation

/// When an asynchronous block runs.
public enum ScheduledTaskType: Sendable {
    /// At once where the caller is already on the context's queue.
    case immediate
    /// After what is queued already.
    case enqueued
}

/// Carries what the caller confines to the context's queue across to it.
struct Confined<Value>: @unchecked Sendable {
    // Unchecked: the block runs on the context's queue and nowhere else, and its caller waits or lets go of it.
    let value: Value
}

extension NSManagedObjectContext {
    private var isOnQueue: Bool {
        switch concurrencyType {
        case .mainQueueConcurrencyType: MainQueue.isCurrent
        case .privateQueueConcurrencyType: DispatchQueue.getSpecific(key: Self.queueKey) == ObjectIdentifier(self)
        case .confinementConcurrencyType: true
        }
    }

    /// Runs `block` on the context's queue, later. Changes it leaves are not saved.
    public final func perform(_ block: @escaping () -> Void) {
        guard let queue else { return block() }
        let work = Confined(value: block)
        queue.async { [self] in
            work.value()
            endUndoEvent()
        }
    }

    /// Runs `block` on the context's queue and waits for it. May be called from the queue itself.
    public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        guard let queue, !isOnQueue else { return try block() }
        return try withoutActuallyEscaping(block) { block in
            let work = Confined(value: block)
            return try queue.sync {
                defer { endUndoEvent() }
                return Confined(value: try work.value())
            }.value
        }
    }

    /// Runs `block` on the context's queue and gives its result.
    public final func perform<T>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws -> T
    ) async throws -> T {
        guard let queue else { return try block() }
        let work = Confined(value: block)
        let result: Confined<T> = try await withCheckedThrowingContinuation { continuation in
            let isAtOnce = schedule == .immediate && isOnQueue
            let run: @Sendable () -> Void = { [self] in
                let result = Result { Confined(value: try work.value()) }
                // What runs at once is a part of somebody's event.
                if isAtOnce { processPendingChanges() } else { endUndoEvent() }
                continuation.resume(with: result)
            }
            if isAtOnce { run() } else { queue.async(execute: run) }
        }
        return result.value
    }
}
