import Foundation

extension NSManagedObjectContext {
    /// Queries several stores, each for at most as many objects as the result may need, and sorts the results. Objects that are equal in the order
    /// come in the order in which their stores were added.
    /// - Returns: nil where a store cannot evaluate the query on rows.
    final func fetchMerged(_ fetch: FetchSpecification, _ families: [Family]) throws -> [NSManagedObject]? {
        let (sum, isTooLarge) = fetch.offset.addingReportingOverflow(fetch.limit)
        let end = fetch.limit == 0 || isTooLarge ? nil : sum
        var objects: [NSManagedObject] = []
        var statistics = QueryStatistics()
        for family in families {
            if fetch.sort.isEmpty, let end, objects.count >= end { break }
            let part = family.value(fetch, limit: fetch.sort.isEmpty ? end.map { $0 - objects.count } : end, offset: 0)
            guard let found = try run(part.query, on: part.store, { objects.append($0) }) else { return nil }
            statistics.add(found)
        }
        lastQuery = statistics
        objects = try sorted(objects, fetch, StoreReader(of: self))
        objects.removeFirst(min(fetch.offset, objects.count))
        if let end, objects.count > end - fetch.offset { objects.removeLast(objects.count - (end - fetch.offset)) }
        return objects
    }
}

extension FetchSpecification {
    /// Whether the fetch covers a store. An object without a store counts if the fetch covers all.
    func asks(_ store: NSPersistentStore?) -> Bool {
        guard let affectedStores else { return true }
        return affectedStores.contains { $0 === store }
    }
}

extension QueryStatistics {
    /// Adds the statistics of another store's query.
    mutating func add(_ other: QueryStatistics) {
        isOrderedByIndex = other.isOrderedByIndex && (isOrderedByIndex || parts.isEmpty)
        parts += other.parts
        lookups += other.lookups
        rowsVisited += other.rowsVisited
        rowsMatched += other.rowsMatched
        entriesCounted += other.entriesCounted
        cores = max(cores, other.cores)
    }
}
