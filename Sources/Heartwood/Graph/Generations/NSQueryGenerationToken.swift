import Foundation
import Synchronization

/// Names a commit of each store of a coordinator, for contexts to read: see `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// A token keeps its commits readable while it lives, also through saves and compactions. A file that a compaction has replaced takes disk
/// space until no token names a commit in it and each context has ended its event. A token means nothing to another coordinator or process,
/// and cannot be archived.
/// Source: https://developer.apple.com/documentation/coredata/nsquerygenerationtoken
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: mutable state is in `state`, under its lock.

    /// Represents the newest commits at the time when it is set.
    open class var current: NSQueryGenerationToken { newest }
    private static let newest = NSQueryGenerationToken(nil)

    private struct Pin {
        weak var store: NSPersistentStore?
        let view: any StoreView
    }

    private struct State: @unchecked Sendable {
        // Unchecked: views of record logs may be read from several threads.
        var pins: [Pin] = []
        weak var coordinator: NSPersistentStoreCoordinator?
    }

    private let state: Mutex<State>

    /// Names the newest commits. A store that cannot be read now is left out, and reading it later reports the failure.
    init(_ coordinator: NSPersistentStoreCoordinator?) {
        var pins: [Pin] = []
        for store in coordinator?.persistentStores ?? [] where Self.canPin(store) {
            if let view = try? store.seam.pinnedView() { pins.append(Pin(store: store, view: view)) }
        }
        state = Mutex(State(pins: pins, coordinator: coordinator))
        super.init()
    }

    /// An incremental store and an SQLite store have only their current state.
    private static func canPin(_ store: NSPersistentStore) -> Bool { store.traits.contains(.keepsStates) }

    final func belongs(to coordinator: NSPersistentStoreCoordinator) -> Bool {
        state.withLock { $0.coordinator === coordinator }
    }

    /// Returns the commit of a store. For a store added later, the first call names the newest commit, for all users of the token.
    /// - Returns: nil for a store that is read in its current state, and for a removed store.
    final func view(of store: NSPersistentStore) throws -> (any StoreView)? {
        guard Self.canPin(store), store.persistentStoreCoordinator != nil else { return nil }
        return try state.withLock { state in
            if let known = state.pins.first(where: { $0.store === store }) { return known.view }
            state.pins.removeAll { $0.store?.persistentStoreCoordinator == nil }
            let view = try store.seam.pinnedView()
            state.pins.append(Pin(store: store, view: view))
            return view
        }
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}
