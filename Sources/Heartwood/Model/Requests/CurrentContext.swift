import RecordLog

/// The context whose block runs on this thread, for `NSFetchRequest.execute()`.
///
/// Kept with the thread: a task-local value costs several times as much, and would be inherited by tasks that a block starts, which
/// do not run on the context's queue.
enum CurrentContext {
    private static let value = ThreadValue()

    /// nil outside of blocks that were given to a context.
    static var executor: (any RequestExecutor)? {
        value.pointer.flatMap { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() as? any RequestExecutor }
    }

    /// Runs a block of `context`, which lives until that is done.
    @inline(__always)
    static func run<Success, Failure: Error>(
        _ context: some RequestExecutor, _ block: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        let value = value
        let outer = value.pointer, inner = Unmanaged.passUnretained(context).toOpaque()
        guard outer != inner else { return try block() }
        value.pointer = inner
        defer { value.pointer = outer }
        return try block()
    }
}
