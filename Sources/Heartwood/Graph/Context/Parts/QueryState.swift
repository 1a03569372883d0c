import RecordLog

/// The newest queries of a context: their statistics, and what later queries reuse.
struct QueryState {
    var newestQuery = QueryRecord.statistics(QueryStatistics())
    /// Whether the newest inspected query was evaluated on objects.
    var lastQueryWasInMemory = false
    /// The cached plan of the newest look-up by a uniqueness constraint.
    var cachedPlan: CachedLookupPlan?
    /// The orders of the newest fetches.
    var orders = OrderCache()
    /// Builds keys for look-ups by a uniqueness constraint; its memory is reused.
    let lookupKey = KeyBuilder()
    /// Whether a predicate has read a value that this context has changed; a fetch resets it.
    var hasMetChange = false
    /// Batches that fetches with a batch size have deferred.
    var laterBatches: [LaterBatches] = []
    /// Called with the number of stored members of a to-many relationship that a getter has read; nil except in tests of the cost.
    var membersObserver: ((Int) -> Void)?

    /// Statistics of the newest fetch that a store answered.
    var lastQuery: QueryStatistics {
        get {
            switch newestQuery {
            case .statistics(let statistics): statistics
            case .cachedPlan: cachedPlan?.statistics ?? QueryStatistics()
            }
        }
        set { newestQuery = .statistics(newValue) }
    }
}

extension NSManagedObjectContext {
    final var lastQuery: QueryStatistics {
        get { queries.lastQuery }
        set { queries.lastQuery = newValue }
    }
}

/// A note of how a fetch was answered, formatted only on request.
enum QueryRecord {
    case statistics(QueryStatistics)
    /// By the context's cached lookup plan.
    case cachedPlan
}

extension QueryStatistics {
    mutating func add(_ runtime: EntityRuntime, _ index: TableIndex, isFound: Bool) {
        parts.append(Part(entity: runtime.entity.name ?? "", access: .index(index.name), rangeCount: 1, isOrdered: false))
        rowsVisited += isFound ? 1 : 0
        rowsMatched += isFound ? 1 : 0
    }
}
