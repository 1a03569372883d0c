import RecordLog

/// A query of a store: the rows of some entities that meet a condition, in an order.
package struct StoreQuery {
    package var runtimes: [EntityRuntime]
    /// nil for every row.
    var condition: FetchCondition?
    package var sort: [SortKey]
    /// The search whose relevance is the order; then `sort` is empty.
    var relevance: WordCondition?
    /// nil for no limit.
    package var limit: Int?
    package var offset: Int
    /// The request that the query comes from, for stores that answer requests; nil for the stack's own queries.
    var request: NSPersistentStoreRequest?
    /// The request's entity.
    var entity: NSEntityDescription?
    /// Whether the caller needs only IDs.
    var wantsIDs = false

    /// Whether the query asks for every row, in any order.
    package var isForAll: Bool { condition == nil && sort.isEmpty && relevance == nil && limit == nil && offset == 0 }

    /// Whether tests and orders of rows can answer the query: it does not ask for the relevance of words.
    package var isOnRows: Bool { relevance == nil }

    /// The number of rows up to the end of the window; nil where it has no end.
    package var end: Int? {
        guard let limit else { return nil }
        let (sum, isTooMany) = limit.addingReportingOverflow(offset)
        return isTooMany ? nil : sum
    }

    /// The query of all rows that meet the condition, in any order.
    package var unordered: StoreQuery {
        var all = self
        (all.sort, all.limit, all.offset) = ([], nil, 0)
        return all
    }

    /// The condition as a tree.
    package var predicate: PredicateNode? { condition?.node }
}

/// Statistics on the execution of a query.
package struct QueryStatistics: Equatable {
    package typealias Access = FetchPlan.Access

    /// A search for objects at the other end of a relationship, before the rows that refer to them.
    package struct Lookup: Equatable {
        let entity: String
        let access: Access
    }

    /// One entity's part of the query.
    package struct Part: Equatable {
        let entity: String
        let access: Access
        /// The number of index ranges that were scanned or counted.
        let rangeCount: Int
        let isOrdered: Bool

        package init(entity: String, access: Access, rangeCount: Int, isOrdered: Bool) {
            (self.entity, self.access, self.rangeCount, self.isOrdered) = (entity, access, rangeCount, isOrdered)
        }
    }

    package init() {}

    package var parts: [Part] = []
    var lookups: [Lookup] = []
    /// The number of rows that were read.
    package var rowsVisited = 0
    package var rowsMatched = 0
    /// The number of index entries that were counted instead of rows.
    var entriesCounted = 0
    /// The number of threads of the widest scan.
    var cores = 1
    /// Whether the rows came in order, so that no sort was needed.
    var isOrderedByIndex = false

    /// The access path of each entity.
    var access: [Access] { parts.map(\.access) }
}

/// A compiled query, which may be run once on any thread.
package typealias CompiledQuery = (_ body: (UnsafeRowView) throws -> Bool) throws -> QueryStatistics
