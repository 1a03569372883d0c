import Dispatch
import Foundation
import Synchronization

/// Carries a value to a queue that alone uses it, or back from it.
struct Confined<Value>: @unchecked Sendable {
    // Unchecked: the code that makes one waits for the queue, or no longer uses the value.
    let value: Value
}

/// A block that is let go as soon as it has run, while its queue is still occupied and before its result is told: what only the block holds may
/// use the queue as it is deallocated, and is gone when the caller goes on.
private final class Once<Success, Failure: Error>: @unchecked Sendable {
    // Unchecked: only the queue uses it.
    private var work: (() throws(Failure) -> Success)?

    init(_ work: sending @escaping () throws(Failure) -> Success) {
        self.work = work
    }

    func run() throws(Failure) -> Success {
        guard let work else { preconditionFailure("a block runs once") }
        self.work = nil
        return try work()
    }
}

/// A serial queue that knows the thread on which its work runs, so that its work may wait for more work of the same queue.
///
/// `DispatchQueue.sync` deadlocks if the queue's own work calls it, also from another queue's work for which it waits. Here such a call
/// runs at once: the queue is idle until the call returns, so no other work runs on it. One chain of calls stays on one thread, except that
/// the main queue's work may run on the main thread; `worker` and `visitor` follow the chain in both directions.
///
/// Two threads that each hold one queue and wait for the other's deadlock, as with any two locks.
final class WorkQueue: Sendable {
    /// The main queue.
    static let main = WorkQueue()

    private let queue: DispatchQueue
    private let isMain: Bool
    /// The thread on which the queue's work runs now; 0 if there is none.
    private let worker = Atomic<UInt>(0)
    /// For the main queue: the thread that waits for its current work; 0 if none does.
    private let visitor = Atomic<UInt>(0)

    private static let mainKey = DispatchSpecificKey<Bool>()

    init(label: String) {
        queue = DispatchQueue(label: label, autoreleaseFrequency: .workItem)
        isMain = false
    }

    private init() {
        queue = .main
        isMain = true
        queue.setSpecific(key: Self.mainKey, value: true)
    }

    private static var thisThread: UInt { UInt(bitPattern: Unmanaged.passUnretained(Thread.current).toOpaque()) }

    /// Whether the caller runs as this queue's work, or in work for which that work waits.
    var isCurrent: Bool {
        let worker = worker.load(ordering: .relaxed)
        guard isMain else {
            guard worker != 0 else { return false }
            return worker == Self.thisThread || worker == Self.main.visitor.load(ordering: .relaxed) && Self.main.isCurrent
        }
        // Programs without a main run loop but with `dispatchMain()`, such as those with an asynchronous main function off Apple's
        // platforms, run the main queue's work on other threads than the main one.
        return Thread.isMainThread || DispatchQueue.getSpecific(key: Self.mainKey) == true || worker != 0 && worker == Self.thisThread
    }

    /// Runs `work` after the work that is already queued.
    func async(_ work: sending @escaping () -> Void) {
        let work = Once(work)
        queue.async { [self] in
            occupied(by: Self.thisThread, holdsMain: false) { work.run() }
        }
    }

    /// Runs `work` and waits for it; runs it at once if the caller is the queue's work.
    func sync<Success, Failure: Error>(_ work: () throws(Failure) -> Success) throws(Failure) -> Success {
        if isCurrent { return try work() }
        let caller = Self.thisThread
        let holdsMain = !isMain && Self.main.isCurrent
        let outcome: Result<Success, Failure> = queue.sync {
            occupied(by: caller, holdsMain: holdsMain) { Result { () throws(Failure) in try work() } }
        }
        return try outcome.get()
    }

    /// Runs `work` and returns its result; with `isImmediate` it runs at once if the caller is the queue's work.
    @concurrent
    func run<Success, Failure: Error>(
        isImmediate: Bool, _ work: sending @escaping () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let work = Once(work)
        let outcome: Confined<Result<Success, Failure>> = await withCheckedContinuation { continuation in
            let run: @Sendable () -> Void = {
                continuation.resume(returning: Confined(value: Result { () throws(Failure) in try work.run() }))
            }
            if isImmediate, isCurrent { run() } else { async(run) }
        }
        return try outcome.value.get()
    }

    /// Runs `work` on the queue and records its thread meanwhile.
    private func occupied<Success>(by caller: UInt, holdsMain: Bool, _ work: () -> Success) -> Success {
        let thread = Self.thisThread
        let worker = worker.exchange(thread, ordering: .relaxed)
        let visitor = isMain ? visitor.exchange(caller, ordering: .relaxed) : 0
        let main = holdsMain ? Self.main.worker.exchange(thread, ordering: .relaxed) : 0
        defer {
            self.worker.store(worker, ordering: .relaxed)
            if isMain { self.visitor.store(visitor, ordering: .relaxed) }
            if holdsMain { Self.main.worker.store(main, ordering: .relaxed) }
        }
        return work()
    }
}
