import Dispatch
import Foundation
import RecordLog

/// What `NSAsynchronousFetchRequest.completionBlock` gives, whatever the type of the request's results.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// A fetch that does not keep its caller waiting.
///
/// `NSManagedObjectContext.execute(_:)` returns its result at once. The store is searched on a thread of its own where the context has no
/// unsaved changes and the store's rows can tell, otherwise on the context's queue; the objects are made on the context's queue, and
/// there the completion block is called.
/// Source: https://developer.apple.com/documentation/coredata/nsasynchronousfetchrequest
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, ExecutableRequest {
    public final let fetchRequest: NSFetchRequest<ResultType>
    /// Called once, also after an error or a cancellation: the block that the request was made with, which gets a result of its own type.
    open var completionBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock? {
        guard let completion else { return nil }
        return { [self] result in completion(NSAsynchronousFetchResult(self, as: result)) }
    }
    final let completion: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// The total that the progress starts with; 0 where it is not known.
    open var estimatedResultCount = 0
    /// The fetch request's.
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

    /// A request of its own that asks the same as another, for results of this type. The other's completion block is called with a result
    /// of its own type.
    public convenience init<Other>(_ request: NSAsynchronousFetchRequest<Other>) {
        self.init(
            fetchRequest: NSFetchRequest(request.fetchRequest),
            completionBlock: request.completion.map { completion in { completion(NSAsynchronousFetchResult(request, as: $0)) } })
        estimatedResultCount = request.estimatedResultCount
    }

    final func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        guard context.queue != nil else {
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

/// What an asynchronous request gives: an error or a result, once it has ended.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoreasynchronousresult
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    public final let managedObjectContext: NSManagedObjectContext
    /// Why there is no result; `CocoaError.userCancelled` after a cancellation. Read it on the context's queue.
    public final fileprivate(set) var operationError: (any Error)?
    /// How many objects have been found. A child of the progress that was current when the request was executed.
    public final let progress: Progress?

    init(_ context: NSManagedObjectContext, progress: Progress?) {
        managedObjectContext = context
        self.progress = progress
    }

    /// Ends the request soon. Nothing happens once it has ended.
    open func cancel() { progress?.cancel() }

    fileprivate final func checkCancellation() throws {
        guard progress?.isCancelled == true else { return }
        throw CoreDataError.make(CocoaError.Code.userCancelled.rawValue, "The request was cancelled.")
    }
}

/// The result of an `NSAsynchronousFetchRequest`, or of a fetch request that was executed.
/// Source: https://developer.apple.com/documentation/coredata/nsasynchronousfetchresult
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
    public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// What was found; nil before the end, and after an error. Read it on the context's queue.
    public final private(set) var finalResult: [ResultType]?

    init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, progress: Progress?) {
        fetchRequest = request
        super.init(context, progress: progress)
    }

    /// What another result says, whose objects are of this one's type.
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

    /// Looks at the progress once in so many rows.
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

/// A fetch's query, ready to run on any thread.
struct StoreSearch {
    let run: PreparedQuery
    let slotBase: UInt64
}

extension NSManagedObjectContext {
    /// What `execute(_:)` gives for a fetch, with results of the type that the caller asks for; nil where a subclass gives something else.
    ///
    /// The compiler takes the type from a cast, so that `try context.execute(request) as? NSAsynchronousFetchResult<NSFetchRequestResult>`
    /// has a result whatever the request's type: with a `resultType` of IDs, counts or dictionaries that is mostly another one.
    /// - Throws: as `execute(_:)` does.
    public final func execute<ResultType, Wanted>(_ request: NSFetchRequest<ResultType>) throws -> NSAsynchronousFetchResult<Wanted>? {
        let asked: NSPersistentStoreRequest = request.asking(for: Wanted.self)
        return try execute(asked) as? NSAsynchronousFetchResult<Wanted>
    }

    /// The same for an asynchronous fetch.
    public final func execute<ResultType, Wanted>(
        _ request: NSAsynchronousFetchRequest<ResultType>
    ) throws -> NSAsynchronousFetchResult<Wanted>? {
        let asked: NSPersistentStoreRequest = ResultType.self == Wanted.self ? request : NSAsynchronousFetchRequest<Wanted>(request)
        return try execute(asked) as? NSAsynchronousFetchResult<Wanted>
    }
}

extension NSManagedObjectContext {
    /// nil where the fetch is to run on the context's queue.
    fileprivate final func search(_ fetch: FetchSpecification, _ type: NSFetchRequestResultType) throws -> StoreSearch? {
        guard parentContext == nil, changeCount == 0, type == .managedObjectResultType || type == .managedObjectIDResultType else { return nil }
        let parts = try storeQueries(for: fetch)
        guard parts.count == 1, let (store, query) = parts.first, let run = try view(of: store).prepared(query) else { return nil }
        return StoreSearch(run: run, slotBase: store.slotBase)
    }

    /// The objects that a search has found, but for those that are gone meanwhile.
    fileprivate final func objects(found keys: [ObjectKey], _ fetch: FetchSpecification) throws -> [NSManagedObject] {
        sweepIfWanted()
        identities.reserve(keys.count)
        try bring(keys)
        let objects = keys.compactMap { key in identities[key].flatMap { $0.isDeleted ? nil : $0 } }
        return try ready(objects, fetch)
    }
}
