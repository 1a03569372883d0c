import Foundation
import Synchronization

/// Runs work on several threads that begin at the same time.
enum ThreadsAtOnce {
    /// - Parameter prepare: makes a thread's work, on that thread; called with the thread's number. One thread after the other prepares, since an
    ///   SQLite connection sets up its journal when it opens.
    /// - Returns: the time from the moment at which all threads are ready until the last one ends.
    static func seconds(_ count: Int, _ prepare: @escaping @Sendable (Int) throws -> () throws -> Void) throws -> Double {
        let ready = DispatchSemaphore(value: 0), start = DispatchSemaphore(value: 0), end = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil), preparing = NSLock()
        for number in 0..<count {
            let thread = Thread {
                do {
                    let work = try preparing.withLock { try prepare(number) }
                    ready.signal()
                    start.wait()
                    try work()
                } catch {
                    failure.withLock { $0 = error }
                    ready.signal()
                }
                end.signal()
            }
            thread.stackSize = 4 << 20
            thread.start()
        }
        for _ in 0..<count { ready.wait() }
        let seconds = Clock.seconds {
            for _ in 0..<count { start.signal() }
            for _ in 0..<count { end.wait() }
        }.1
        if let error = failure.withLock({ $0 }) { throw error }
        return seconds
    }
}
