import Foundation

/// The members that a subclass of `NSFetchedResultsController` may override and whose types depend on its results.
///
/// A call of a controller's `fetchedObjects` or `object(at:)` uses the members of `TypedFetchedResults`, which take the type of results from the
/// call. Those call a subclass's overrides of the members here. An override may be applied twice: if code calls it through the subclass's own type,
/// `super` returns elements to which it has already been applied.
open class OverriddenFetchedResults<ResultType>: AnyFetchedResultsController {
    /// See `NSFetchedResultsController`.
    @_disfavoredOverload
    open var fetchedObjects: [ResultType]? { elements.map { $0.map(Self.result) } }

    /// See `NSFetchedResultsController`.
    @_disfavoredOverload
    open func object(at indexPath: IndexPath) -> ResultType { Self.result(element(at: indexPath)) }

    private class func result(_ element: Any) -> ResultType {
        guard let result = element as? ResultType else {
            misuse("The fetched results controller has found \(type(of: element)), not \(ResultType.self).")
        }
        return result
    }

    override final var overriddenElements: [Any]? { fetchedObjects }
    override final func overriddenElement(at path: IndexPath) -> Any { object(at: path) }
}
