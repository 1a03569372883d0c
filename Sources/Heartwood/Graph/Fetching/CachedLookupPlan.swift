import RecordLog

/// The plan of a context's newest look-up by a uniqueness constraint, cached because the next look-up is mostly the same with another
/// value.
///
/// A look-up needs references to objects that other objects retain; counting these took longer than the search in the index. This one
/// object retains all of them.
///
/// Invariants:
/// 1. Only `isFound` changes. The entity and the attribute are immutable with their model, and the view is of one commit.
/// 2. The plan is used only while its view is the store's newest and the context's: a context that takes another view calls `dropCachedPlan`.
final class CachedLookupPlan {
    private let name: String
    private let attribute: String
    private let isText: Bool
    private let coordinator: NSPersistentStoreCoordinator
    private let store: RecordLogStore
    fileprivate let runtime: EntityRuntime
    fileprivate let view: RecordLogView
    fileprivate let index: TableIndex
    fileprivate let table: TableID
    /// Whether the plan's newest look-up found a row.
    fileprivate var isFound = false

    /// - Parameter name: the name of the entity, which has no subentities.
    init(
        _ name: String, _ coordinator: NSPersistentStoreCoordinator, _ store: RecordLogStore, _ runtime: EntityRuntime, _ view: RecordLogView,
        _ lookup: EntityTable.Lookup
    ) {
        self.name = name
        self.coordinator = coordinator
        self.store = store
        self.runtime = runtime
        self.view = view
        (attribute, isText, index) = (lookup.attribute, lookup.isText, lookup.index)
        table = view.reference(ObjectKey(slot: runtime.slot, row: 0)).table
    }

    /// Whether a request, which asks for objects only, can use this plan, and the store has no commits of other processes to read first.
    /// - Parameter key: receives the key to look up in the index.
    func serves<ResultType>(_ request: NSFetchRequest<ResultType>, _ tree: PredicateTree, _ key: KeyBuilder) -> Bool {
        // `isNewest` is checked last, because another thread may read a newer commit in the meantime.
        guard request.plainName == name || request.entity === runtime.entity, !runtime.isRetired, !coordinator.hasSharedEntities,
            store.hasNoCommits(beyond: view), view.isNewest
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

extension PredicateValue {
    /// Appends the value as it is encoded in an index of texts or of integers.
    /// - Returns: false where the value is not of that type.
    fileprivate func appendComponent(to key: KeyBuilder, asText isText: Bool) -> Bool {
        switch self {
        case .text(let text) where isText: key.append(text: text)
        case .integer(let number) where !isText: key.append(int64: number)
        default: return false
        }
        return true
    }
}

extension PredicateTree {
    /// Appends the index key, where the tree is nothing but an equality of the attribute with a value.
    /// - Parameter isText: whether the attribute is text; otherwise it is an integer.
    fileprivate func appendEquality(of attribute: String, asText isText: Bool, to key: KeyBuilder) -> Bool {
        // Without a pair of the key and the value, which would be retained.
        if let template { return template.read { $0.equalKey == attribute } && value(0).appendComponent(to: key, asText: isText) }
        guard let equality, equality.key == attribute else { return false }
        return equality.value.appendComponent(to: key, asText: isText)
    }
}

extension RecordLogView {
    /// Returns the index that finds a row by one attribute's value; nil where no uniqueness constraint has one.
    func lookup(_ attribute: String, _ runtime: EntityRuntime) throws -> EntityTable.Lookup? {
        try schema.table(of: runtime, slotBase: slotBase).lookups.first { $0.attribute == attribute && snapshot.hasIndex($0.index.id) }
    }

    /// Returns the row of the first index entry that starts with a key.
    fileprivate func row(_ index: TableIndex, in table: TableID, _ key: KeyBuilder) throws -> UnsafeRowView? {
        do throws(StoreError) {
            guard let number = try snapshot.firstRow(index.id, prefix: key) else { return nil }
            return try snapshot.unsafeRow(RowReference(table: table, row: number))
        } catch {
            throw RecordLogErrors.wrap(error)
        }
    }
}

extension NSManagedObjectContext {
    /// Returns the object that the plan finds for the key in `lookupKey`.
    final func run(_ cachedPlan: CachedLookupPlan) throws -> NSManagedObject? {
        adoptKeys()
        sweepIfNeeded()
        let row = try cachedPlan.view.row(cachedPlan.index, in: cachedPlan.table, queries.lookupKey)
        cachedPlan.isFound = row != nil
        queries.newestQuery = .cachedPlan
        return row.map { object(of: $0, cachedPlan.view.key($0.reference), cachedPlan.runtime) }
    }

    /// Drops the plan; called before the context reads another commit or none.
    final func dropCachedPlan() {
        guard let cachedPlan = queries.cachedPlan else { return }
        if case .cachedPlan = queries.newestQuery { queries.newestQuery = .statistics(cachedPlan.statistics) }
        queries.cachedPlan = nil
    }
}
