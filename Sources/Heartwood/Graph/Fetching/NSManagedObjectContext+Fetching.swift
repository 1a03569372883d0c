import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Returns the objects, IDs or count that `request` describes, including this context's unsaved changes.
    ///
    /// Objects are faults unless they were registered: their rows have been found, but no attribute has been read. Dictionaries describe
    /// the stores only, without unsaved changes, and have no key for a missing value; they are `NSDictionary` or `[String: Any]`, according
    /// to `T`.
    /// - Throws: for an entity, key or predicate that the stores cannot serve; if a store cannot be read.
    /// - Complexity: a search in an index that serves the predicate or the order; without one, a scan of the entity's rows.
    public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        guard !isSubclassed else { return try convert(try fetch(request.duplicate(as: (any NSFetchRequestResult).self))) }
        return try found(by: request)
    }

    /// Implements `fetch(_:)`.
    final func found<T>(by request: NSFetchRequest<T>) throws -> [T] {
        checkQueue("fetch(_:)")
        leaveReplacedFiles()
        return try usingRows { try findObjects(request) }
    }

    private final func findObjects<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        if let known = try lookUp(request) { return known }
        let specification = try FetchSpecification(request, context: self)
        if request.resultType.contains(.countResultType) {
            return try convert([NSNumber(value: try count(specification))])
        }
        if let shape = specification.shape { return try convert(try dictionaries(specification, shape)) }
        // No object is made for IDs from stores only.
        if specification.wantsIDs, pending.changeCount == 0, parentContext == nil { return try convert(try keys(specification).map(objectID)) }
        let found = try results(try fetchObjects(specification), of: request, specification)
        try keepLookup(request, specification)
        return found
    }

    /// Converts objects to the request's result type.
    final func results<T>(_ objects: [NSManagedObject], of request: NSFetchRequest<T>, _ specification: FetchSpecification) throws -> [T] {
        if request.resultType.contains(.managedObjectIDResultType) { return try convert(objects.map(\.objectID)) }
        if T.self == NSManagedObject.self { return objects.unchecked(as: T.self) }
        // Faults have their entity's class. If an inserted object does not, each object is checked.
        if T.self is NSManagedObject.Type, !making.hasOtherClasses,
            specification.concreteEntities.allSatisfy({ runtime(for: $0).objectClass is T.Type })
        {
            return objects.unchecked(as: T.self)
        }
        return try convert(objects)
    }

    /// The keys of the objects that a fetch finds in the stores.
    final func keys<T>(for request: NSFetchRequest<T>) throws -> [ObjectKey] { try keys(try FetchSpecification(request, context: self)) }

    private final func keys(_ fetch: FetchSpecification) throws -> [ObjectKey] {
        let queries = try storeQueries(for: fetch)
        guard queries.count == 1, let (store, query) = queries.first else { return try fetchObjects(fetch).map(\.key) }
        let view = try view(of: store)
        if view.answersRequests { return try query.relevance == nil ? view.keys(query) ?? fetchObjects(fetch).map(\.key) : fetchObjects(fetch).map(\.key) }
        var keys: [ObjectKey] = []
        let found = try view.execute(query) { row in
            keys.append(ObjectKey(rawValue: row.reference.rawValue &+ store.slotBase))
            return true
        }
        return found == nil ? try fetchObjects(fetch).map(\.key) : keys
    }

    /// Returns the number of objects that `request` would return.
    public final func count<T>(for request: NSFetchRequest<T>) throws -> Int {
        guard !isSubclassed else { return try count(for: request.duplicate(as: (any NSFetchRequestResult).self)) }
        return try number(of: request)
    }

    /// Implements `count(for:)`.
    final func number<T>(of request: NSFetchRequest<T>) throws -> Int {
        checkQueue("count(for:)")
        leaveReplacedFiles()
        return try usingRows { try count(try FetchSpecification(request, context: self)) }
    }

    private func convert<T>(_ results: [Any]) throws -> [T] {
        try results.map { result in
            guard let result = result as? T else {
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError,
                    result is NSManagedObject
                        ? "The request gives \(type(of: result)), not \(T.self). For a class of your own, set the entity's "
                            + "managedObjectClassName to its name, with the module in front where it is not found without."
                        : "The request's resultType asks for other results than objects of \(T.self). Give its variable the type of a request "
                            + "for any result: let request: NSFetchRequest<NSFetchRequestResult> = \(T.self).fetchRequest().")
            }
            return result
        }
    }

    // MARK: Objects

    final func fetchObjects(_ fetch: FetchSpecification) throws -> [NSManagedObject] {
        try usingRows { try find(fetch) }
    }

    private final func find(_ fetch: FetchSpecification) throws -> [NSManagedObject] {
        adoptKeys()
        sweepIfNeeded()
        let families = try families(for: fetch)
        guard !families.isEmpty else { return [] }
        if parentContext == nil, families.contains(where: { !$0.store.traits.contains(.tellsOfCommits) }) { beginEpoch() }
        let pending = fetch.includesPendingChanges ? pendingObjects(for: fetch) : []
        let isAsked = pending.isEmpty && !isChangedAlong(fetch)
        if isAsked, parentContext != nil { return try ready(try fetchFromParent(fetch), fetch) }
        if isAsked, families.count == 1, let family = families.first {
            let (store, query) = family.value(fetch, limit: fetch.limit == 0 ? nil : fetch.limit, offset: fetch.offset)
            let found = FoundObjects(expected: query.limit)
            if try run(query, on: store, { found.append($0) }) != nil { return try ready(found.take(), fetch) }
        } else if isAsked, fetch.relevance == nil, let objects = try fetchMerged(fetch, families) {
            return try ready(objects, fetch)
        }
        return try ready(try fetchInMemory(fetch, families: families, pending: pending), fetch)
    }

    /// The part of a fetch that one store answers.
    struct Family {
        let store: NSPersistentStore
        var runtimes: [EntityRuntime]

        func value(_ fetch: FetchSpecification, limit: Int?, offset: Int, isSorted: Bool = true) -> (store: NSPersistentStore, query: StoreQuery) {
            (store, StoreQuery(
                runtimes: runtimes, condition: fetch.condition, sort: isSorted && fetch.relevance == nil ? fetch.sort : [],
                relevance: isSorted ? fetch.relevance : nil, limit: limit, offset: offset, request: fetch.request, entity: fetch.entity,
                wantsIDs: fetch.wantsIDs))
        }
    }

    private func families(for fetch: FetchSpecification) throws -> [Family] {
        var families: [Family] = []
        var storeless: NSEntityDescription?
        let isShared = coordinator?.hasSharedEntities ?? false
        if !isShared, parentContext == nil, fetch.entity.subentities.isEmpty, !fetch.entity.isAbstract {
            // The fetch reads one table only.
            let runtime = runtime(for: fetch.entity)
            if let store = runtime.store, fetch.asks(store) {
                try store.seam.follow()
                return [Family(store: store, runtimes: [runtime])]
            }
        }
        for entity in fetch.concreteEntities {
            for runtime in isShared ? runtimes(of: entity) : [runtime(for: entity)] {
                guard let store = runtime.store else {
                    storeless = storeless ?? entity
                    continue
                }
                guard fetch.asks(store) else { continue }
                if let known = families.firstIndex(where: { $0.store === store }) {
                    families[known].runtimes.append(runtime)
                } else {
                    families.append(Family(store: store, runtimes: [runtime]))
                }
            }
        }
        // A configuration may leave some entities of the family without a store.
        if families.isEmpty, fetch.affectedStores == nil, let storeless { throw CoreDataError.noStore(for: storeless) }
        if families.count > 1, let stores = coordinator?.persistentStores {
            // The entities may name the stores in another order.
            families = stores.compactMap { store in families.first { $0.store === store } }
        }
        if parentContext == nil { for family in families { try family.store.seam.follow() } }
        return families
    }

    /// The query of a fetch for each store, without this context's changes.
    final func storeQueries(for fetch: FetchSpecification) throws -> [(store: NSPersistentStore, query: StoreQuery)] {
        try families(for: fetch).map { $0.value(fetch, limit: fetch.limit == 0 ? nil : fetch.limit, offset: fetch.offset) }
    }

    /// Runs a query and passes the objects of its rows to `body`, bound to their rows.
    /// - Returns: nil if the store cannot evaluate the query on rows.
    final func run(
        _ query: StoreQuery, on store: NSPersistentStore, _ body: (consuming NSManagedObject) throws -> Void
    ) throws -> QueryStatistics? {
        let view = try view(of: store)
        if view.answersRequests { return try run(query, asking: view, body) }
        guard let runtime = query.runtimes.first else { return QueryStatistics() }
        // A server would be asked once more.
        if query.condition == nil, store.traits.contains(.rereadsRows), let count = try view.counted(query)?.rowsMatched {
            identities.reserve(min(count, query.limit ?? count))
        }
        var objects = RowObjects(self, store, runtime)
        let statistics = try view.execute(query) { row in
            if let object = objects.object(of: row) { try body(object) }
            return true
        }
        if let statistics { lastQuery = statistics }
        return statistics
    }

    /// Runs a query in an incremental store; its objects are faults.
    private func run(
        _ query: StoreQuery, asking view: any StoreView, _ body: (consuming NSManagedObject) throws -> Void
    ) throws -> QueryStatistics? {
        guard query.relevance == nil, let keys = try view.keys(query) else { return nil }
        for key in keys { if let object = object(for: key) { try body(object) } }
        lastQuery = QueryStatistics()
        lastQuery.rowsMatched = keys.count
        return lastQuery
    }

    // MARK: Pending changes

    /// The changed objects of the fetch's entities, which differ from their rows in the store.
    final func pendingObjects(for fetch: FetchSpecification) -> [NSManagedObject] {
        guard pending.changeCount > 0 else { return [] }
        let entities = Set(fetch.concreteEntities.map(ObjectIdentifier.init))
        return pending.listed.filter { $0.hasChanges && entities.contains(ObjectIdentifier($0.entity)) && fetch.asks($0.runtime.store) }
    }

    /// Whether the result may depend on changed objects that the fetch does not return, because a key path leads through them.
    final func isChangedAlong(_ fetch: FetchSpecification) -> Bool {
        guard pending.changeCount > 0, fetch.includesPendingChanges else { return false }
        let entities = fetch.entitiesAlong
        return !entities.isEmpty && pending.listed.contains { $0.hasChanges && entities.contains(ObjectIdentifier($0.entity)) }
    }

    // MARK: Counting

    final func count(_ fetch: FetchSpecification) throws -> Int {
        if let shape = fetch.shape { return try countResults(fetch, shape) }
        adoptKeys()
        let families = try families(for: fetch)
        let pending = fetch.includesPendingChanges ? pendingObjects(for: fetch) : []
        if pending.isEmpty, !isChangedAlong(fetch) {
            if parentContext != nil { return try countInParent(fetch) }
            var statistics = QueryStatistics()
            var isCounted = true
            for family in families {
                let part = family.value(fetch, limit: nil, offset: 0, isSorted: false)
                guard let counted = try view(of: part.store).counted(part.query) else {
                    isCounted = false
                    break
                }
                statistics.add(counted)
            }
            if isCounted {
                lastQuery = statistics
                let total = max(0, statistics.rowsMatched - fetch.offset)
                return fetch.limit == 0 ? total : min(total, fetch.limit)
            }
        }
        var unsorted = fetch
        unsorted.sort = []
        return try fetchInMemory(unsorted, families: families, pending: pending).count
    }
}
