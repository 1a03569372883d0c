/// Which stores hold which entities.
struct StoreRoutes {
    private struct Route {
        var runtimes: [EntityRuntime] = []
        /// The first one of a store that can be written, else the first.
        var chosen: EntityRuntime?
        /// What objects have that are inserted before there is a store.
        var storeless: EntityRuntime?

        mutating func choose() { chosen = runtimes.first { $0.store?.isReadOnly == false } ?? runtimes.first }
    }

    private var routes: [ObjectIdentifier: Route] = [:]
    /// Whether some entity is in more than one store.
    private(set) var hasSharedEntities = false

    /// Where an inserted object goes; a runtime without a store where none holds the entity yet, and nil where none was asked for.
    func forInsertion(of entity: NSEntityDescription) -> EntityRuntime? {
        guard let route = routes[ObjectIdentifier(entity)] else { return nil }
        return route.chosen ?? route.storeless
    }

    func all(of entity: NSEntityDescription) -> [EntityRuntime] { routes[ObjectIdentifier(entity)]?.runtimes ?? [] }

    mutating func keep(storeless runtime: EntityRuntime) { routes[ObjectIdentifier(runtime.entity), default: Route()].storeless = runtime }

    /// - Parameter later: the stores that come behind the runtime's.
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
