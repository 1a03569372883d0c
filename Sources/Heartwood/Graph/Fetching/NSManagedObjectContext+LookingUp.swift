import Foundation
import RecordLog

/// Fetches by the value of a uniqueness constraint: the commonest fetch of a program. Its specification takes longer than the search in the index,
/// so the context keeps the plan of the newest one (`CachedLookupPlan`). `Benchmarks/instructions` counts 7,884 instructions for an equality with it,
/// and 24,599 by a plan of the table.
extension NSManagedObjectContext {
    /// Executes a fetch by the context's cached lookup plan.
    /// - Returns: nil if the plan does not serve the fetch.
    final func lookUp<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType]? {
        guard let cachedPlan = queries.cachedPlan, pending.changeCount == 0, parentContext == nil, readState.generation == nil,
            QueryTuning.forcedAccess == nil, let tree = Self.comparison(request), cachedPlan.serves(request, tree, queries.lookupKey)
        else { return nil }
        guard let object = try run(cachedPlan) else { return [] }
        // If the object is of another class, the general implementation reports it.
        guard ResultType.self is NSManagedObject.Type, type(of: object) is ResultType.Type else { return Self.converted(object) }
        return [object].unchecked(as: ResultType.self)
    }

    /// The tree of a request for objects only, whose predicate is a comparison.
    private static func comparison<ResultType>(_ request: NSFetchRequest<ResultType>) -> PredicateTree? {
        // A subclass of the predicate may evaluate differently.
        guard request.asksForObjectsAlone, let predicate = request.predicate, type(of: predicate) == NSComparisonPredicate.self else { return nil }
        return predicate.body as? PredicateTree
    }

    // A separate function, so that the runtime looks up the types only when it is called.
    @inline(never)
    private static func converted<ResultType>(_ object: NSManagedObject) -> [ResultType]? { (object as? ResultType).map { [$0] } }

    /// Keeps the plan of a fetch that was just executed, if it was a look-up in one table.
    final func keepLookup<ResultType>(_ request: NSFetchRequest<ResultType>, _ fetch: FetchSpecification) throws {
        guard parentContext == nil, pending.changeCount == 0, readState.generation == nil, let name = fetch.entity.name,
            request.plainName != nil || request.entity === fetch.entity, let equality = Self.comparison(request)?.equality,
            fetch.entity.subentities.isEmpty, !fetch.entity.isAbstract,
            let coordinator, !coordinator.hasSharedEntities
        else { return }
        let runtime = runtime(for: fetch.entity)
        guard let store = runtime.store, let log = store.ownLog, let view = try view(of: store).logView,
            let lookup = try view.lookup(equality.key, runtime)
        else { return }
        dropCachedPlan()
        queries.cachedPlan = CachedLookupPlan(name, coordinator, log, runtime, view, lookup)
    }
}
