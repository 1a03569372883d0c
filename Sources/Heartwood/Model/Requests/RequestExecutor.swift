/// The executor of requests, as requests see it. Only `NSManagedObjectContext` in the Graph layer conforms.
protocol RequestExecutor: AnyObject {
    func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType]
    /// The number of objects that a fetch finds; nil for other requests.
    func countIfFetch(_ request: NSPersistentStoreRequest) throws -> Int?
    /// The result of the coordinator's `execute(_:with:)`.
    func directResult(of request: NSPersistentStoreRequest) throws -> Any
}
