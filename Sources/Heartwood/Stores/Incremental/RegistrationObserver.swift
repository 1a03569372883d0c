/// Tells incremental stores which of their objects a context has.
final class RegistrationObserver {
    func registered(_ object: NSManagedObject) {
        guard !object.key.isTemporary, let store = object.runtime.store as? NSIncrementalStore else { return }
        store.noteRegistered([object.key])
    }

    /// - Parameter objects: alive, and still under the keys that they were registered by.
    func unregistered(_ objects: [Unmanaged<NSManagedObject>]) {
        var stores: [(store: NSIncrementalStore, keys: [ObjectKey])] = []
        for object in objects {
            let (key, store) = object._withUnsafeGuaranteedRef { ($0.key, $0.runtime.store as? NSIncrementalStore) }
            guard !key.isTemporary, let store else { continue }
            if let known = stores.firstIndex(where: { $0.store === store }) {
                stores[known].keys.append(key)
            } else {
                stores.append((store, [key]))
            }
        }
        for (store, keys) in stores { store.noteUnregistered(keys) }
    }
}
