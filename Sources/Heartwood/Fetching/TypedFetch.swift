import Foundation

/// What a subclass of `NSFetchRequest` may override whose type is that of its results; see `OverriddenFetchedResults`.
open class OverriddenFetch<ResultType>: NSPersistentStoreRequest {
    /// As `NSFetchRequest` says.
    @_disfavoredOverload
    open func execute() throws -> [ResultType] {
        guard let context = CurrentContext.context, let request = self as? NSFetchRequest<ResultType> else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "execute() asks the context in whose perform or performAndWait it is called; call a context's fetch(_:) elsewhere.")
        }
        return try context.fetch(request)
    }

    override final func statedResults() throws -> [Any] { try execute() }
}

/// The members of `NSFetchRequest` whose types are those of its results.
///
/// They stand in a protocol's extension for the reason that `TypedFetchedResults` gives: a controller hands its delegate a request by another type of
/// results than it was made with.
public protocol TypedFetch: NSPersistentStoreRequest {
    associatedtype ResultType
}

extension TypedFetch {
    /// Fetches in the context in whose `perform` or `performAndWait` the caller runs.
    /// - Throws: 134070 outside of those, and what the context's `fetch(_:)` throws; 134091 where a result is of another type.
    /// Source: https://developer.apple.com/documentation/coredata/nsfetchrequest/execute()
    public func execute() throws -> [ResultType] {
        try statedResults().map { found in
            guard let result = found as? ResultType else {
                throw CoreDataError.unsupported("The request has found \(type(of: found)), not \(ResultType.self).")
            }
            return result
        }
    }
}
