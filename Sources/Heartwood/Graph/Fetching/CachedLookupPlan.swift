import RecordLog

/// The way that a context's newest look-up by a uniqueness constraint took, for the next one: mostly it asks the same of another value.
///
/// Whatever else a look-up asks is a reference to something that somebody else keeps alive, and counting those took longer than the search
/// in the index. Here one object keeps all of them.
///
/// Invariants:
/// 1. Nothing of it changes but `isFound`. Entity and attribute are frozen with their model, and the view is one commit's.
/// 2. It is followed while its view is the store's newest and the context's: whoever takes another forgets the route (`forgetRoute`).
final class CachedLookupPlan {
    private let name: String
    private let attribute: String
    private let isText: Bool
    private let coordinator: NSPersistentStoreCoordinator
    private let store: NSPersistentStore
    fileprivate let runtime: EntityRuntime
    fileprivate let view: RecordLogView
    fileprivate let index: TableIndex
    fileprivate let table: TableID
    /// Whether the newest look-up found a row.
    fileprivate var isFound: Bool

    /// - Parameters:
    ///   - name: of the entity, which has no subentities.
    ///   - isFound: by the look-up that took the way first.
    init(
        _ name: String, _ coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore, _ runtime: EntityRuntime, _ view: RecordLogView,
        _ lookup: EntityTable.Lookup, isFound: Bool
    ) {
        self.name = name
        self.coordinator = coordinator
        self.store = store
        self.runtime = runtime
        self.view = view
        self.isFound = isFound
        (attribute, isText, index) = (lookup.attribute, lookup.isText, lookup.index)
        table = view.reference(ObjectKey(slot: runtime.slot, row: 0)).table
    }

    /// Whether a request for objects alone takes this way, and nothing is to be learned of other processes before.
    /// - Parameter key: becomes what the index is asked.
    func leads<ResultType>(_ request: NSFetchRequest<ResultType>, _ tree: PredicateTree, _ key: KeyBuilder) -> Bool {
        // Whether the view is the newest is asked last: another thread may learn of a newer one meanwhile.
        guard request.plainName == name, !runtime.isRetired, !coordinator.hasSharedEntities, store.hasNoNews(beyond: view), view.isNewest
        else { return false }
        key.removeAll()
        return tree.appendEquality(of: attribute, asText: isText, to: key)
    }

    var statistics: QueryStatistics {
        var statistics = QueryStatistics()
        statistics.add(runtime, index, isFound: isFound)
        return statistics
    }
}

extension NSManagedObjectContext {
    /// The object that a route leads to, by what `lookupKey` asks.
    final func follow(_ route: CachedLookupPlan) throws -> NSManagedObject? {
        adoptKeys()
        sweepIfWanted()
        let row = try route.view.row(route.index, in: route.table, lookupKey)
        route.isFound = row != nil
        newestQuery = .route
        return row.map { object(of: $0, route.view.key($0.reference), route.runtime) }
    }

    /// Before the context reads another commit, or none.
    final func forgetRoute() {
        guard let route else { return }
        if case .route = newestQuery { newestQuery = .statistics(route.statistics) }
        self.route = nil
    }
}
