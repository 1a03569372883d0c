import RecordLog

/// What a store is asked: rows of some entities that meet a condition, in an order.
struct StoreQuery {
    var runtimes: [EntityRuntime]
    var predicate: PredicateNode?
    var sort: [SortKey]
    /// nil: no limit.
    var limit: Int?
    var offset: Int
    /// What this comes of, for stores that answer requests; nil where the stack asks for itself.
    var request: NSPersistentStoreRequest?
    /// The request's entity.
    var entity: NSEntityDescription?
    /// Whether nobody needs more than IDs.
    var wantsIDs = false
}

/// How a query was answered.
struct QueryStatistics: Equatable {
    typealias Access = FetchPlan.Access

    /// How objects at the other end of a relationship were found before the rows that refer to them.
    struct Lookup: Equatable {
        let entity: String
        let access: Access
    }

    /// One entity's part.
    struct Part: Equatable {
        let entity: String
        let access: Access
        /// The stretches of indexes that were walked or counted.
        let rangeCount: Int
        let isOrdered: Bool
    }

    var parts: [Part] = []
    var lookups: [Lookup] = []
    /// Rows whose bytes were looked at.
    var rowsVisited = 0
    var rowsMatched = 0
    /// Entries of indexes that were counted in place of rows.
    var entriesCounted = 0
    /// The threads that the widest scan took.
    var cores = 1
    /// Whether the rows came in order, so that none was sorted.
    var isOrderedByIndex = false

    /// For each entity, how its rows were found.
    var access: [Access] { parts.map(\.access) }
}

/// A query that was compiled, and may be run once on any thread.
typealias PreparedQuery = (_ body: (RowView) throws -> Bool) throws -> QueryStatistics
