extension NSManagedObjectContext {
    /// Runs a fetch and describes its plan: the indexes used, and the number of rows visited. A request whose result type is a count is
    /// counted. With several stores the plan has parts for each, in the order in which the stores were added. A store on a server explains its plan
    /// (`FetchPlan.server`), without running the statement again.
    /// - Throws: as `fetch`.
    /// - Complexity: as the fetch.
    public final func explain<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> FetchPlan {
        checkQueue()
        let specification = try FetchSpecification(request, context: self)
        let parts = try storeQueries(for: specification)
        if let store = parts.first(where: { $0.store.traits.isDisjoint(with: [.explainsPlans, .explainsStatements]) })?.store {
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
        let server = try parts.flatMap { store, query in try view(of: store).explanation(of: query, isCounted: isCounted) }
        return FetchPlan(
            lastQuery, isSorted: !isCounted && !specification.sort.isEmpty, isInMemory: queries.lastQueryWasInMemory, server: server)
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
