/// The stores that hold each entity.
struct StoreRoutes {
    private struct Route {
        var runtimes: [EntityRuntime] = []
        /// The runtime of the first writable store, or else of the first store.
        var chosen: EntityRuntime?
        /// The runtime of objects that are inserted before a store exists.
        var storeless: EntityRuntime?

        mutating func choose() { chosen = runtimes.first { $0.store?.isReadOnly == false } ?? runtimes.first }
    }

    /// By entity.
    private var routes = IdentityTable<Route>()
    /// Whether some entity is in more than one store.
    private(set) var hasSharedEntities = false

    /// The runtime of an inserted object. It has no store if no store holds the entity yet; nil if no runtime was requested either.
    func forInsertion(of entity: NSEntityDescription) -> EntityRuntime? {
        guard let route = routes[entity] else { return nil }
        return route.chosen ?? route.storeless
    }

    func all(of entity: NSEntityDescription) -> [EntityRuntime] { routes[entity]?.runtimes ?? [] }

    mutating func keep(storeless runtime: EntityRuntime) { routes[runtime.entity, default: Route()].storeless = runtime }

    /// - Parameter later: the stores that were added after the runtime's.
    mutating func add(_ runtime: EntityRuntime, before later: [NSPersistentStore]) {
        var route = routes[runtime.entity] ?? Route()
        let index = route.runtimes.firstIndex { known in later.contains { $0 === known.store } }
        route.runtimes.insert(runtime, at: index ?? route.runtimes.count)
        route.choose()
        hasSharedEntities = hasSharedEntities || route.runtimes.count > 1
        routes[runtime.entity] = route
    }

    mutating func remove(_ store: NSPersistentStore) {
        var isAnyShared = false
        routes.update { route in
            route.runtimes.removeAll { $0.store === store }
            route.choose()
            isAnyShared = isAnyShared || route.runtimes.count > 1
            return true
        }
        hasSharedEntities = isAnyShared
    }
}
