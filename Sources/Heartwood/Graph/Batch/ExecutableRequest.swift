/// A request that the Graph layer executes.
protocol ExecutableRequest: NSPersistentStoreRequest {
    /// Implements `NSManagedObjectContext.execute(_:)`.
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
    /// Implements `NSPersistentStoreCoordinator.execute(_:with:)`.
    func executeDirectly(in context: NSManagedObjectContext) throws -> Any
    /// The number of objects that a fetch finds; nil for other requests.
    func count(in context: NSManagedObjectContext) throws -> Int?
    /// The keys of the objects that a fetch finds in the stores, in the fetch's order; nil for other requests. Makes no object.
    func keys(in context: NSManagedObjectContext) throws -> [ObjectKey]?
}

extension ExecutableRequest {
    func executeDirectly(in context: NSManagedObjectContext) throws -> Any { try execute(in: context) }
    func count(in context: NSManagedObjectContext) throws -> Int? { nil }
    func keys(in context: NSManagedObjectContext) throws -> [ObjectKey]? { nil }
}

extension NSPersistentStoreRequest {
    /// - Throws: 134091 for a request of a class that the stack does not know.
    final func executable() throws -> any ExecutableRequest {
        guard let request = self as? any ExecutableRequest else {
            throw CoreDataError.unsupported("A request of the class \(type(of: self)) cannot be executed.")
        }
        return request
    }
}

extension NSFetchRequest: ExecutableRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(NSAsynchronousFetchRequest(fetchRequest: self, completionBlock: nil), context, progress: nil)
        result.finish(.success(try context.fetch(self)))
        return result
    }

    func executeDirectly(in context: NSManagedObjectContext) throws -> Any { try context.fetch(self) }

    func count(in context: NSManagedObjectContext) throws -> Int? { try context.count(for: self) }

    func keys(in context: NSManagedObjectContext) throws -> [ObjectKey]? { try context.keys(for: self) }
}

extension NSManagedObjectContext: RequestExecutor {
    final func countIfFetch(_ request: NSPersistentStoreRequest) throws -> Int? { try (request as? any ExecutableRequest)?.count(in: self) }

    final func directResult(of request: NSPersistentStoreRequest) throws -> Any { try request.executable().executeDirectly(in: self) }
}
