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

    private var routes: [ObjectIdentifier: Route] = [:]
    /// Whether some entity is in more than one store.
    private(set) var hasSharedEntities = false

    /// The runtime of an inserted object. It has no store if no store holds the entity yet; nil if no runtime was requested either.
    func forInsertion(of entity: NSEntityDescription) -> EntityRuntime? {
        guard let route = routes[ObjectIdentifier(entity)] else { return nil }
        return route.chosen ?? route.storeless
    }

    func all(of entity: NSEntityDescription) -> [EntityRuntime] { routes[ObjectIdentifier(entity)]?.runtimes ?? [] }

    mutating func keep(storeless runtime: EntityRuntime) { routes[ObjectIdentifier(runtime.entity), default: Route()].storeless = runtime }

    /// - Parameter later: the stores that were added after the runtime's.
    mutating func add(_ runtime: EntityRuntime, before later: [NSPersistentStore]) {
        var route = routes[ObjectIdentifier(runtime.entity)] ?? Route()
        let index = route.runtimes.firstIndex { known in later.contains { $0 === known.store } }
        route.runtimes.insert(runtime, at: index ?? route.runtimes.count)
        route.choose()
        hasSharedEntities = hasSharedEntities || route.runtimes.count > 1
        routes[ObjectIdentifier(runtime.entity)] = route
    }

    mutating func remove(_ store: NSPersistentStore) {
        hasSharedEntities = false
        for (entity, old) in routes {
            var route = old
            route.runtimes.removeAll { $0.store === store }
            route.choose()
            hasSharedEntities = hasSharedEntities || route.runtimes.count > 1
            routes[entity] = route
        }
    }
}
