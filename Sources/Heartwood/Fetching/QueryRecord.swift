/// How a fetch was answered, as it is noted: put into words when somebody asks.
enum QueryRecord {
    case statistics(QueryStatistics)
    /// By one look at a uniqueness constraint's index.
    case lookup(EntityRuntime, TableIndex, isFound: Bool)

    var statistics: QueryStatistics {
        switch self {
        case .statistics(let statistics): return statistics
        case .lookup(let runtime, let index, let isFound):
            var statistics = QueryStatistics()
            statistics.add(runtime, index, isFound: isFound)
            return statistics
        }
    }
}

extension QueryStatistics {
    mutating func add(_ runtime: EntityRuntime, _ index: TableIndex, isFound: Bool) {
        parts.append(Part(entity: runtime.entity.name ?? "", access: .index(index.name), rangeCount: 1, isOrdered: false))
        rowsVisited += isFound ? 1 : 0
        rowsMatched += isFound ? 1 : 0
    }
}
