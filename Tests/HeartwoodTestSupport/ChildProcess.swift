import Foundation

#if canImport(ObjectiveC)
    public typealias ChildProcess = Process
#else
    /// A process whose end wakes the thread that waits for it. Where Foundation is not Apple's, its own wait looks only each 50 ms, which is more
    /// than most commands take.
    ///
    /// Foundation learns of the end by a socket whose far end the process has. A process that starts meanwhile inherits that end as well, and the
    /// first one then seems to live as long as the second. So only one process starts at a time, servers and interpreters included.
    public final class ChildProcess: Process, @unchecked Sendable {
        // Unchecked: the semaphore is all that this class adds.
        private let end = DispatchSemaphore(value: 0)
        private static let turn = NSLock()

        override public func run() throws {
            terminationHandler = { [end] _ in end.signal() }
            try Self.turn.withLock { try super.run() }
        }

        /// Any number of threads may wait.
        override public func waitUntilExit() {
            end.wait()
            end.signal()
        }
    }
#endif
