import Foundation

#if canImport(ObjectiveC)
    public typealias ChildProcess = Process
#else
    /// A process whose end wakes the thread that waits for it. Where Foundation is not Apple's, its own wait looks only each 50 ms, which is more
    /// than most commands take.
    public final class ChildProcess: Process, @unchecked Sendable {
        // Unchecked: the semaphore is all that this class adds.
        private let end = DispatchSemaphore(value: 0)

        override public func run() throws {
            terminationHandler = { [end] _ in end.signal() }
            try super.run()
        }

        /// Any number of threads may wait.
        override public func waitUntilExit() {
            end.wait()
            end.signal()
        }
    }
#endif
