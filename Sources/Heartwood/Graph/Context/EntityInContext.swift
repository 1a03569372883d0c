/// An entity of a store, as one context knows it.
///
/// A context's objects count their references to this object. The runtime belongs to the coordinator: its reference count lies in a cache line for
/// which the threads of all contexts would fight.
final class EntityInContext {
    let runtime: EntityRuntime

    init(_ runtime: EntityRuntime) {
        self.runtime = runtime
    }
}
