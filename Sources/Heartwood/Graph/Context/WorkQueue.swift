import Dispatch
import Foundation
import Synchronization

/// Carries across to a queue what is used there alone, or comes back from it.
struct Confined<Value>: @unchecked Sendable {
    // Unchecked: whoever makes one waits for the queue, or has nothing of the value any more.
    let value: Value
}

/// A serial queue that knows which thread works on it, so that its work may wait for more of its own.
///
/// `DispatchQueue.sync` deadlocks where the queue's own work calls it, be it from within another queue's work that it waits for.
/// Here such a call runs at once: the queue is at rest until it returns, so nothing else can run on it meanwhile. Work of one chain of
/// calls stays on one thread, but that the main queue's work may run on the main thread; the chain is followed there and back.
///
/// Two threads that each hold one queue and wait for the other's deadlock, as any two locks do.
final class WorkQueue: Sendable {
    /// The main queue.
    static let main = WorkQueue()

    private let queue: DispatchQueue
    private let isMain: Bool
    /// The thread that the queue's work runs on now; 0 while there is none.
    private let worker = Atomic<UInt>(0)
    /// Of the main queue: the thread that waits for its present work; 0 where none does.
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

    /// Whether the caller runs as this queue's work, or within what that waits for.
    var isCurrent: Bool {
        let worker = worker.load(ordering: .relaxed)
        guard isMain else {
            guard worker != 0 else { return false }
            return worker == Self.thisThread || worker == Self.main.visitor.load(ordering: .relaxed) && Self.main.isCurrent
        }
        // Where there is no main run loop but `dispatchMain()`, as in programs with an asynchronous main function off Apple's
        // platforms, the main queue's work runs on other threads than the main one.
        return Thread.isMainThread || DispatchQueue.getSpecific(key: Self.mainKey) == true || worker != 0 && worker == Self.thisThread
    }

    /// Runs `work` after what is queued already.
    func async(_ work: sending @escaping () -> Void) {
        let work = Confined(value: work)
        queue.async { [self] in
            occupied(by: Self.thisThread, holdsMain: false) { work.value() }
        }
    }

    /// Runs `work` and waits for it; at once where the caller is the queue's work.
    func sync<Success, Failure: Error>(_ work: () throws(Failure) -> Success) throws(Failure) -> Success {
        if isCurrent { return try work() }
        let caller = Self.thisThread
        let holdsMain = !isMain && Self.main.isCurrent
        let outcome: Result<Success, Failure> = queue.sync {
            occupied(by: caller, holdsMain: holdsMain) { Result { () throws(Failure) in try work() } }
        }
        return try outcome.get()
    }

    /// Runs `work` and gives its result; with `isImmediate` at once where the caller is the queue's work.
    @concurrent
    func run<Success, Failure: Error>(
        isImmediate: Bool, _ work: sending @escaping () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let work = Confined(value: work)
        let outcome: Confined<Result<Success, Failure>> = await withCheckedContinuation { continuation in
            let run: @Sendable () -> Void = {
                continuation.resume(returning: Confined(value: Result { () throws(Failure) in try work.value() }))
            }
            if isImmediate, isCurrent { run() } else { async(run) }
        }
        return try outcome.value.get()
    }

    /// Runs `work`, which the queue has come to, and says so meanwhile.
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
