import Foundation

/// What a subclass of `NSFetchedResultsController` may override whose type is that of its results.
///
/// A call of a controller's `fetchedObjects` or `object(at:)` means the members of `TypedFetchedResults`, which know the results by the type that is
/// written at the call. Those ask a subclass by these, in a class of its own, where a name means them. An override gives what it has of its own: where it
/// is called by its own class's type, what `super` gives has been through it once already.
open class OverriddenFetchedResults<ResultType>: AnyFetchedResultsController {
    /// As `NSFetchedResultsController` says.
    @_disfavoredOverload
    open var fetchedObjects: [ResultType]? { elements.map { $0.map(Self.result) } }

    /// As `NSFetchedResultsController` says.
    @_disfavoredOverload
    open func object(at indexPath: IndexPath) -> ResultType { Self.result(element(at: indexPath)) }

    private class func result(_ element: Any) -> ResultType {
        guard let result = element as? ResultType else {
            preconditionFailure("The fetched results controller has found \(type(of: element)), not \(ResultType.self).")
        }
        return result
    }

    override final var statedElements: [Any]? { fetchedObjects }
    override final func statedElement(at path: IndexPath) -> Any { object(at: path) }
}
