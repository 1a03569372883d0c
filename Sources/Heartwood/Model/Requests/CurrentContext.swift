import RecordLog

/// The context whose block runs on this thread, for `NSFetchRequest.execute()`.
///
/// It is a thread-local value. A task-local one would cost several times as much, and tasks that a block starts would inherit it although they
/// do not run on the context's queue.
enum CurrentContext {
    private static let value = ThreadValue()

    /// nil outside of a context's blocks.
    static var executor: (any RequestExecutor)? {
        value.pointer.flatMap { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() as? any RequestExecutor }
    }

    /// Runs a block of `context`. The caller keeps `context` alive meanwhile.
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

/// The executor of requests, as requests see it. Only `NSManagedObjectContext` in the Graph layer conforms.
protocol RequestExecutor: AnyObject {
    func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType]
    /// The number of objects that a fetch finds; nil for other requests.
    func countIfFetch(_ request: NSPersistentStoreRequest) throws -> Int?
    /// The result of the coordinator's `execute(_:with:)`.
    func directResult(of request: NSPersistentStoreRequest) throws -> Any
}
