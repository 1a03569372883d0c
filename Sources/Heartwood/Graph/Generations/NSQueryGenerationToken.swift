import Foundation
import Synchronization

/// Names a commit of each store of a coordinator, for contexts to read: see `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// A token keeps what it names readable while it lives, whatever is saved and compacted meanwhile: the disk keeps the space of a file that a
/// compaction has replaced until no token names a commit in it, and each context has come to the end of an event. It means nothing to another coordinator or process,
/// and is not archived.
/// Source: https://developer.apple.com/documentation/coredata/nsquerygenerationtoken
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: what changes lies in `state`, under its lock.

    /// Stands for the newest commits at the time when it is set.
    open class var current: NSQueryGenerationToken { newest }
    private static let newest = NSQueryGenerationToken(nil)

    private struct Pin {
        weak var store: NSPersistentStore?
        let view: StoreView
    }

    private struct State: @unchecked Sendable {
        // Unchecked: views of record logs are read from several threads.
        var pins: [Pin] = []
        weak var coordinator: NSPersistentStoreCoordinator?
    }

    private let state: Mutex<State>

    /// The newest commits. A store that cannot be read now says so when it is.
    init(_ coordinator: NSPersistentStoreCoordinator?) {
        var pins: [Pin] = []
        for store in coordinator?.persistentStores ?? [] where Self.canPin(store) {
            if let view = try? store.newestView() { pins.append(Pin(store: store, view: view)) }
        }
        state = Mutex(State(pins: pins, coordinator: coordinator))
        super.init()
    }

    /// A store that answers requests has one state, the one that it tells of.
    private static func canPin(_ store: NSPersistentStore) -> Bool { store.rows != nil }

    final func belongs(to coordinator: NSPersistentStoreCoordinator) -> Bool {
        state.withLock { $0.coordinator === coordinator }
    }

    /// The commit of a store. Of one that was added later it is the one that is newest now, and stays it for all who have the token.
    /// - Returns: nil for a store that is read as it is, and one that was removed.
    final func view(of store: NSPersistentStore) throws -> StoreView? {
        guard Self.canPin(store), store.persistentStoreCoordinator != nil else { return nil }
        return try state.withLock { state in
            if let known = state.pins.first(where: { $0.store === store }) { return known.view }
            state.pins.removeAll { $0.store?.persistentStoreCoordinator == nil }
            let view = try store.newestView()
            state.pins.append(Pin(store: store, view: view))
            return view
        }
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}
