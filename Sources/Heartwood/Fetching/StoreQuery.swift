import RecordLog

/// What a store is asked: rows of some entities that meet a condition, in an order.
struct StoreQuery {
    var runtimes: [EntityRuntime]
    var predicate: PredicateNode?
    var sort: [SortKey]
    /// nil: no limit.
    var limit: Int?
    var offset: Int
}

/// How a query was answered.
struct QueryStatistics: Equatable {
    enum Access: Equatable {
        case scan
        case index(String)
    }

    /// For each entity, how its rows were found.
    var access: [Access] = []
    /// Rows whose bytes were looked at.
    var rowsVisited = 0
    var rowsMatched = 0
    /// Whether the rows came in order, so that none was sorted.
    var isOrderedByIndex = false
}

/// A query that was compiled, and may be run once on any thread.
typealias PreparedQuery = (_ body: (RowView) throws -> Bool) throws -> QueryStatistics
