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
