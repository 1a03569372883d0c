/// What carries out requests, as they know it. The object graph has the one class that conforms, `NSManagedObjectContext`.
protocol RequestExecutor: AnyObject {
    func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType]
    /// How many objects a fetch finds; nil for other requests.
    func countIfFetch(_ request: NSPersistentStoreRequest) throws -> Int?
    /// What the coordinator's `execute(_:with:)` gives.
    func directResult(of request: NSPersistentStoreRequest) throws -> Any
}
