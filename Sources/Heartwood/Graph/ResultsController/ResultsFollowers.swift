import Foundation

/// The fetched results controllers that follow a context's changes. Confined to the context's queue, except for the release of controllers.
final class ResultsFollowers {
    private struct Follower {
        weak var controller: AnyFetchedResultsController?
    }

    private var list: [Follower] = []
    private var resets = 0

    /// Whether there may be one. Released controllers are removed by the next report.
    var isAny: Bool { !list.isEmpty }

    func add(_ controller: AnyFetchedResultsController) {
        if !list.contains(where: { $0.controller === controller }) { list.append(Follower(controller: controller)) }
    }

    /// Reports to all controllers. If a delegate resets the context meanwhile, the remaining controllers get only the report of the reset: the
    /// objects in the older one do not exist any more.
    func report(_ event: ResultsEvent) {
        if case .reset = event { resets += 1 }
        let before = resets
        for follower in list where resets == before { follower.controller?.follow(event) }
        list.removeAll { $0.controller == nil }
    }
}

/// A context's report to the controllers that follow it.
enum ResultsEvent {
    case changes(ChangeEvents)
    /// These objects were saved.
    case saved([NSManagedObject])
    /// The context has forgotten all of its objects.
    case reset
}

/// The merged changes of objects that a context does not know. No notification reports them.
struct UnregisteredChanges {
    private(set) var changed: Set<ObjectKey> = []
    private(set) var deleted: Set<ObjectKey> = []
    /// The entities of these objects.
    private(set) var entities: Set<ObjectIdentifier> = []
    /// Whether unnamed objects at the other ends of relationships may have changed.
    var isPartial = false
    /// Whether anything may have changed.
    var isUnknown = false

    var isEmpty: Bool { changed.isEmpty && deleted.isEmpty && !isPartial && !isUnknown }

    mutating func note(_ id: NSManagedObjectID, isDeleted: Bool) {
        entities.insert(ObjectIdentifier(id.entity))
        if isDeleted {
            changed.remove(id.key)
            deleted.insert(id.key)
        } else {
            deleted.remove(id.key)
            changed.insert(id.key)
        }
    }
}

extension NSManagedObjectContext {
    /// Whether a fetched results controller follows this context's changes.
    final var isTracked: Bool { lineage.resultsFollowers?.isAny ?? false }

    final func addFollower(_ controller: AnyFetchedResultsController) {
        ChangeEvents.observe()
        let followers = lineage.resultsFollowers ?? ResultsFollowers()
        lineage.resultsFollowers = followers
        followers.add(controller)
    }
}
