extension NSManagedObjectContext {
    /// Runs a fetch and says how it was answered: by which indexes, and how many rows were looked at. A request whose result type is a
    /// count is counted. Of several stores each has parts of its own, in the order in which the stores were added.
    /// - Throws: as `fetch` does.
    /// - Complexity: that of the fetch.
    public final func explain<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> FetchPlan {
        checkQueue()
        let specification = try FetchSpecification(request, context: self)
        if let store = try storeQueries(for: specification).first(where: { $0.store.rows == nil })?.store {
            throw CoreDataError.unsupported("A store of the type \(store.type) does not tell how it finds objects.")
        }
        lastQuery = QueryStatistics()
        lastQueryWasInMemory = false
        let isCounted = request.resultType.contains(.countResultType)
        let count =
            if let shape = specification.shape { try runResults(specification, shape) }
            else if isCounted { try count(specification) }
            else { try fetchObjects(specification).count }
        if lastQueryWasInMemory { lastQuery.rowsMatched = count }
        return FetchPlan(lastQuery, isSorted: !isCounted && !specification.sort.isEmpty, isInMemory: lastQueryWasInMemory)
    }
}

extension NSManagedObjectContext {
    /// How the newest fetch that a store answered was answered, in words.
    package var lastQueryDescription: String {
        let ways = lastQuery.access.map(\.description)
        return "\(ways.joined(separator: ", ")); \(lastQuery.rowsVisited) rows visited, \(lastQuery.rowsMatched) matched"
    }

    /// How many objects the context holds.
    package var registeredCount: Int { identities.count }
}
