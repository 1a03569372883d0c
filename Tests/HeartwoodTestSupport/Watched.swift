import Foundation

/// A value that other threads change, and that a test waits for: the change wakes the test, which looks at no clock meanwhile.
public final class Watched<Value>: @unchecked Sendable {
    // Unchecked: `condition` guards `value`.
    private let condition = NSCondition()
    private var value: Value

    public init(_ value: Value) { self.value = value }

    /// Reads or changes the value, and wakes the threads that wait for it.
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return try body(&value)
    }

    /// Blocks the thread.
    /// - Parameter isTrue: called under the lock, for the value as it is and after each change.
    /// - Returns: false if the value is not so after that time.
    public func wait(seconds: Double = 60, until isTrue: (Value) -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !isTrue(value) {
            guard condition.wait(until: end) else { return isTrue(value) }
        }
        return true
    }

    /// The same for a task. A thread of its own waits, so that the task keeps none from the work that it waits for.
    ///
    /// Work in a task begins when a thread is free, which may be behind all tests that were started before it. So the limit is longer than they take.
    public func wait(until isTrue: @escaping @Sendable (Value) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait(seconds: 1200, until: isTrue)) }
        }
    }
}
