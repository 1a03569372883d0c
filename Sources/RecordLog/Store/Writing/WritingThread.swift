import Synchronization

/// The thread that writes to a store which lets one writer in at a time.
///
/// Code of the program runs within some writes: the handler of a batch insertion, for one. A write that it begins would wait for the write that it
/// is part of, so it is refused.
package struct WritingThread: ~Copyable, Sendable {
    /// 0 while no thread writes.
    private let number = Atomic<UInt>(0)

    package init() {}

    /// Called before the store's lock is taken.
    /// - Returns: the calling thread.
    /// - Throws: `invalidArgument` within a write by this thread.
    package func enter(_ path: String) throws(StoreError) -> UInt {
        let own = SystemThread.current
        guard own == 0 || number.load(ordering: .relaxed) != own else {
            throw StoreError(
                .invalidArgument, path: path, "this thread begins a write to the store within another one",
                remedy: "Write after the first one ends. Code that runs during a write, such as the handler of a batch insertion, may only read.")
        }
        return own
    }

    /// Runs `body` while the caller holds the store's lock.
    package func hold<Result, Failure: Error>(by thread: UInt, _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        number.store(thread, ordering: .relaxed)
        defer { number.store(0, ordering: .relaxed) }
        return try body()
    }
}
