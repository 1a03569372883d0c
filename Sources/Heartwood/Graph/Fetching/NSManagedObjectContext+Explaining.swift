extension NSManagedObjectContext {
    /// Runs a fetch and describes its plan: the indexes used, and the number of rows visited. A request whose result type is a count is
    /// counted. With several stores the plan has parts for each, in the order in which the stores were added.
    /// - Throws: as `fetch`.
    /// - Complexity: as the fetch.
    public final func explain<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> FetchPlan {
        checkQueue()
        let specification = try FetchSpecification(request, context: self)
        if let store = try storeQueries(for: specification).first(where: { !$0.store.traits.contains(.explainsPlans) })?.store {
            throw StoreAbility.plans.missing(in: store)
        }
        lastQuery = QueryStatistics()
        queries.lastQueryWasInMemory = false
        let isCounted = request.resultType.contains(.countResultType)
        let count =
            if let shape = specification.shape { try runResults(specification, shape) }
            else if isCounted { try count(specification) }
            else { try fetchObjects(specification).count }
        if queries.lastQueryWasInMemory { lastQuery.rowsMatched = count }
        return FetchPlan(lastQuery, isSorted: !isCounted && !specification.sort.isEmpty, isInMemory: queries.lastQueryWasInMemory)
    }
}

extension NSManagedObjectContext {
    /// A description of how a store answered the newest fetch.
    package var lastQueryDescription: String {
        let ways = lastQuery.access.map(\.description)
        return "\(ways.joined(separator: ", ")); \(lastQuery.rowsVisited) row\(lastQuery.rowsVisited == 1 ? "" : "s") visited, \(lastQuery.rowsMatched) matched"
    }

    /// The number of registered objects.
    package var registeredCount: Int { identities.count }
}
