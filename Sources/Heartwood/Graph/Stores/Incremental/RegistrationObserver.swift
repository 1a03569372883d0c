/// Reports to stores that ask for it which of their objects a context has: each object once, and a new one as soon as it is saved.
final class RegistrationObserver {
    /// The objects that were reported to their stores.
    private var reported: Set<ObjectKey> = []
    private var gathered: Keys?

    /// By store.
    private typealias Keys = [(store: any RegistrationStore, keys: [ObjectKey])]

    func registered(_ object: NSManagedObject) {
        // A store does not know an object that was not saved, even if it has an ID.
        guard !object.key.isTemporary, !object.state.contains(.inserted), let store = object.runtime.store?.seam.registrationStore,
            reported.insert(object.key).inserted
        else { return }
        if gathered != nil {
            Self.add(object.key, store, to: &gathered!)
        } else {
            store.noteRegistered([object.key])
        }
    }

    /// - Parameter objects: alive, and still under the keys with which they were registered.
    func unregistered(_ objects: [Unmanaged<NSManagedObject>]) {
        var stores: Keys = []
        for object in objects {
            let (key, store) = object._withUnsafeGuaranteedRef { ($0.key, $0.runtime.store?.seam.registrationStore) }
            guard reported.remove(key) != nil, let store else { continue }
            Self.add(key, store, to: &stores)
        }
        for (store, keys) in stores { store.noteUnregistered(keys) }
    }

    /// Collects the registrations from now on; `endGathering()` reports them at once.
    func beginGathering() { gathered = [] }

    func endGathering() {
        let stores = gathered ?? []
        gathered = nil
        for (store, keys) in stores { store.noteRegistered(keys) }
    }

    private static func add(_ key: ObjectKey, _ store: any RegistrationStore, to stores: inout Keys) {
        if let known = stores.firstIndex(where: { $0.store === store }) {
            stores[known].keys.append(key)
        } else {
            stores.append((store, [key]))
        }
    }
}
