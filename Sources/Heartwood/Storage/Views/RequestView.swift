import Foundation

/// Fetch requests that a store answers as a whole, without rows. The default answers none.
package protocol RequestView: AnyObject {
    /// Whether the store answers requests instead of queries on rows.
    var answersRequests: Bool { get }

    /// Returns the objects that match a query, in its order, from a store that answers requests.
    /// - Returns: nil where the store does not know the query's predicate, order or window.
    func keys(_ query: StoreQuery) throws -> [ObjectKey]?

    /// Returns the dictionaries that a query's request asks for; nil where they must be built from rows or objects.
    func dictionaries(_ query: StoreQuery) throws -> [NSDictionary]?
}

extension RequestView {
    package var answersRequests: Bool { false }

    package func keys(_ query: StoreQuery) throws -> [ObjectKey]? { nil }

    package func dictionaries(_ query: StoreQuery) throws -> [NSDictionary]? { nil }
}
