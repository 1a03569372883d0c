import Foundation
import Synchronization

/// The changes of a context's objects that observers do not know yet.
struct ChangeEvents {
    enum Kind {
        case inserted, updated, deleted, refreshed
    }

    private static let observed = Atomic<Bool>(false)

    /// Whether changes may have an observer or a follower. Nothing is gathered before that.
    @inline(__always)
    static var areObserved: Bool { observed.load(ordering: .relaxed) }
    static func observe() { observed.store(true, ordering: .relaxed) }

    private(set) var inserted: Set<NSManagedObject> = []
    private(set) var updated: Set<NSManagedObject> = []
    private(set) var deleted: Set<NSManagedObject> = []
    private(set) var refreshed: Set<NSManagedObject> = []
    /// Further changes, which only controllers of fetched results receive.
    var unregistered = UnregisteredChanges()

    var isEmpty: Bool { hasNoObjects && unregistered.isEmpty }
    var hasNoObjects: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }

    /// Keeps one kind for each object: inserted and updated is inserted, inserted and deleted is nothing, deleted and brought back is updated.
    mutating func note(_ kind: Kind, _ object: NSManagedObject) {
        switch kind {
        case .inserted:
            if deleted.remove(object) == nil { inserted.insert(object) } else { updated.insert(object) }
        case .updated:
            if !inserted.contains(object) { updated.insert(object) }
        case .deleted:
            updated.remove(object)
            refreshed.remove(object)
            if inserted.remove(object) == nil { deleted.insert(object) }
        case .refreshed:
            if !inserted.contains(object), !deleted.contains(object) { refreshed.insert(object) }
        }
    }

    var userInfo: [AnyHashable: Any] {
        var result: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { result[NSInsertedObjectsKey] = inserted }
        if !updated.isEmpty { result[NSUpdatedObjectsKey] = updated }
        if !deleted.isEmpty { result[NSDeletedObjectsKey] = deleted }
        if !refreshed.isEmpty { result[NSRefreshedObjectsKey] = refreshed }
        return result
    }
}

extension NSManagedObjectContext {
    @inline(__always)
    final func noteEvent(_ kind: ChangeEvents.Kind, _ object: NSManagedObject) {
        if ChangeEvents.areObserved { gatherEvent(kind, object) }
    }

    @inline(never)
    private func gatherEvent(_ kind: ChangeEvents.Kind, _ object: NSManagedObject) {
        guard isTracked || ContextNotification.didChange.isNamed else { return }
        // Code may use a main-queue context outside `perform`; its event ends when the queue reaches its next block.
        if events.isEmpty, concurrencyType == .mainQueueConcurrencyType {
            DispatchQueue.main.async { [weak self] in
                self?.endPendingChanges()
                self?.leaveReplacedFiles()
            }
        }
        events.note(kind, object)
    }

    /// Implements `processPendingChanges()`.
    final func endPendingChanges() {
        checkQueue("processPendingChanges()")
        endEvent()
        registerUndo()
        postChanges()
    }

    /// Posts the changes to observers; the event goes on.
    final func postChanges() {
        guard !events.isEmpty else { return }
        let gathered = events
        events = ChangeEvents()
        lineage.resultsFollowers?.report(.changes(gathered))
        if !gathered.hasNoObjects, ContextNotification.didChange.isNamed { ContextNotification.didChange.post(self, gathered.userInfo) }
    }

    /// Reports to observers that the context forgot all objects.
    /// - Parameter forgotten: the objects that were registered.
    final func announceReset(_ forgotten: [NSManagedObjectID]) {
        events = ChangeEvents()
        guard ChangeEvents.areObserved else { return }
        lineage.resultsFollowers?.report(.reset)
        ContextNotification.didChange.post(self, [NSInvalidatedAllObjectsKey: forgotten])
    }
}
