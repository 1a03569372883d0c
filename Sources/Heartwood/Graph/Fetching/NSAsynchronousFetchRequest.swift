import Dispatch
import Foundation
import RecordLog

/// The type of `NSAsynchronousFetchRequest.completionBlock`, for every type of results.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// A fetch that does not block its caller.
///
/// `NSManagedObjectContext.execute(_:)` returns its result at once. If the context has no unsaved changes and the store's rows suffice, the
/// store is searched on another thread, otherwise on the context's queue. Objects are made on the context's queue, and the completion block
/// is called there.
/// Source: https://developer.apple.com/documentation/coredata/nsasynchronousfetchrequest
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, ExecutableRequest {
    public final let fetchRequest: NSFetchRequest<ResultType>
    /// Called once, also after an error or a cancellation. It calls the block with which the request was made, with a result of that
    /// block's type.
    open var completionBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock? {
        guard let completion else { return nil }
        return { [self] result in completion(NSAsynchronousFetchResult(self, as: result)) }
    }
    final let completion: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// The total with which the progress starts; 0 if unknown.
    open var estimatedResultCount = 0
    /// Those of the fetch request.
    override final var storesToAsk: [any IdentifyingStore]? {
        get { fetchRequest.storesToAsk }
        set { fetchRequest.storesToAsk = newValue }
    }

    public init(
        fetchRequest request: NSFetchRequest<ResultType>, completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        fetchRequest = request
        completion = completionBlock
        super.init()
    }

    /// Makes an equal request for results of this type. The other request's completion block is called with a result of its own type.
    public convenience init<Other>(_ request: NSAsynchronousFetchRequest<Other>) {
        self.init(
            fetchRequest: NSFetchRequest(request.fetchRequest),
            completionBlock: request.completion.map { completion in { completion(NSAsynchronousFetchResult(request, as: $0)) } })
        estimatedResultCount = request.estimatedResultCount
    }

    final func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        guard context.confinement.queue != nil else {
            throw CoreDataError.unsupported(
                "A context of the confinement type has no queue for an asynchronous fetch; use one of the private or main queue type.")
        }
        let fetch = try FetchSpecification(fetchRequest, context: context)
        let progress = Progress(totalUnitCount: estimatedResultCount > 0 ? Int64(estimatedResultCount) : -1)
        let result = NSAsynchronousFetchResult(self, context, progress: progress)
        guard let search = try context.search(fetch, fetchRequest.resultType) else {
            let work = Confined(value: (context: context, request: fetchRequest, result: result))
            context.perform {
                let (context, request, result) = work.value
                result.finish(Result {
                    try result.checkCancellation()
                    return try context.fetch(request)
                })
            }
            return result
        }
        let work = Confined(value: (context: context, search: search, fetch: fetch, request: fetchRequest, result: result))
        DispatchQueue.global().async {
            let found = Confined(value: Result { try work.value.result.keys(work.value.search) })
            work.value.context.perform {
                let (context, _, fetch, request, result) = work.value
                result.finish(Result {
                    let keys = try found.value.get()
                    try result.checkCancellation()
                    return try context.results(try context.objects(found: keys, fetch), of: request, fetch)
                })
            }
        }
        return result
    }
}

/// The result of an asynchronous request: an error or a value, once it has ended.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoreasynchronousresult
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    public final let managedObjectContext: NSManagedObjectContext
    /// The reason why there is no result; `CocoaError.userCancelled` after a cancellation. Read it on the context's queue.
    public final fileprivate(set) var operationError: (any Error)?
    /// The number of objects found so far. A child of the progress that was current when the request was executed.
    public final let progress: Progress?

    init(_ context: NSManagedObjectContext, progress: Progress?) {
        managedObjectContext = context
        self.progress = progress
    }

    /// Ends the request soon. Does nothing once it has ended.
    open func cancel() { progress?.cancel() }

    fileprivate final func checkCancellation() throws {
        guard progress?.isCancelled == true else { return }
        throw CoreDataError.make(CocoaError.Code.userCancelled.rawValue, "The request was cancelled.")
    }
}

/// The result of an executed `NSAsynchronousFetchRequest` or fetch request.
/// Source: https://developer.apple.com/documentation/coredata/nsasynchronousfetchresult
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
    public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// The fetch's results; nil before the end, and after an error. Read it on the context's queue.
    public final private(set) var finalResult: [ResultType]?

    init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, progress: Progress?) {
        fetchRequest = request
        super.init(context, progress: progress)
    }

    /// Makes a result of this type from another one.
    convenience init<Other>(_ request: NSAsynchronousFetchRequest<ResultType>, as other: NSAsynchronousFetchResult<Other>) {
        self.init(request, other.managedObjectContext, progress: other.progress)
        finalResult = other.finalResult?.compactMap { $0 as? ResultType }
        operationError = other.operationError
    }

    final func finish(_ outcome: Result<[ResultType], any Error>) {
        switch outcome {
        case .success(let found):
            finalResult = found
            progress?.totalUnitCount = Int64(found.count)
            progress?.completedUnitCount = Int64(found.count)
        case .failure(let error): operationError = error
        }
        fetchRequest.completion?(self)
    }

    /// The number of rows between checks of the progress.
    private static var stride: Int { 256 }

    /// Runs a search, off the context's queue.
    fileprivate final func keys(_ search: StoreSearch) throws -> [ObjectKey] {
        var keys: [ObjectKey] = []
        try checkCancellation()
        _ = try search.run { row in
            keys.append(ObjectKey(rawValue: row.reference.rawValue &+ search.slotBase))
            guard keys.count % Self.stride == 0 else { return true }
            progress?.completedUnitCount = Int64(keys.count)
            return progress?.isCancelled != true
        }
        try checkCancellation()
        return keys
    }
}

/// A fetch's compiled query, which can run on any thread.
struct StoreSearch {
    let run: CompiledQuery
    let slotBase: UInt64
}

extension NSManagedObjectContext {
    /// Executes a fetch and returns its results with the type that the caller asks for; nil if a subclass returns something else.
    ///
    /// The compiler takes the type from a cast, so `try context.execute(request) as? NSAsynchronousFetchResult<NSFetchRequestResult>` has a
    /// result for every type of request: with a `resultType` of IDs, counts or dictionaries the request's type is mostly another one.
    /// - Throws: as `execute(_:)`.
    public final func execute<ResultType, Wanted>(_ request: NSFetchRequest<ResultType>) throws -> NSAsynchronousFetchResult<Wanted>? {
        let asked: NSPersistentStoreRequest = request.asking(for: Wanted.self)
        return try execute(asked) as? NSAsynchronousFetchResult<Wanted>
    }

    /// Executes an asynchronous fetch and returns its results with the type that the caller asks for.
    public final func execute<ResultType, Wanted>(
        _ request: NSAsynchronousFetchRequest<ResultType>
    ) throws -> NSAsynchronousFetchResult<Wanted>? {
        let asked: NSPersistentStoreRequest = ResultType.self == Wanted.self ? request : NSAsynchronousFetchRequest<Wanted>(request)
        return try execute(asked) as? NSAsynchronousFetchResult<Wanted>
    }
}

extension NSManagedObjectContext {
    /// Prepares the search; nil if the fetch has to run on the context's queue.
    fileprivate final func search(_ fetch: FetchSpecification, _ type: NSFetchRequestResultType) throws -> StoreSearch? {
        guard parentContext == nil, pending.changeCount == 0, type == .managedObjectResultType || type == .managedObjectIDResultType
        else { return nil }
        let parts = try storeQueries(for: fetch)
        guard parts.count == 1, let (store, query) = parts.first, let run = try view(of: store).compiled(query) else { return nil }
        return StoreSearch(run: run, slotBase: store.slotBase)
    }

    /// Returns the objects that a search has found, without those deleted in the meantime.
    fileprivate final func objects(found keys: [ObjectKey], _ fetch: FetchSpecification) throws -> [NSManagedObject] {
        sweepIfNeeded()
        identities.reserve(keys.count)
        try bring(keys)
        let objects = keys.compactMap { key in identities[key].flatMap { $0.isDeleted ? nil : $0 } }
        return try ready(objects, fetch)
    }
}
