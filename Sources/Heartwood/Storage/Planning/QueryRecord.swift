/// How a fetch was answered, as it is noted: put into words when somebody asks.
enum QueryRecord {
    case statistics(QueryStatistics)
    /// By the context's route.
    case route
}

extension QueryStatistics {
    mutating func add(_ runtime: EntityRuntime, _ index: TableIndex, isFound: Bool) {
        parts.append(Part(entity: runtime.entity.name ?? "", access: .index(index.name), rangeCount: 1, isOrdered: false))
        rowsVisited += isFound ? 1 : 0
        rowsMatched += isFound ? 1 : 0
    }
}
