import Foundation

/// The fetched results controllers that follow a context's changes. Confined to the context's queue, but for controllers that go.
final class ResultsFollowers {
    private struct Follower {
        weak var controller: AnyFetchedResultsController?
    }

    private var list: [Follower] = []

    /// Whether there may be one; those that have gone are noticed when something is told.
    var isAny: Bool { !list.isEmpty }

    func add(_ controller: AnyFetchedResultsController) {
        if !list.contains(where: { $0.controller === controller }) { list.append(Follower(controller: controller)) }
    }

    func forEach(_ body: (AnyFetchedResultsController) -> Void) {
        for follower in list { if let controller = follower.controller { body(controller) } }
        list.removeAll { $0.controller == nil }
    }
}

/// What was merged of objects that a context does not know, and of which no notification tells.
struct MergedBeside {
    private(set) var changed: Set<ObjectKey> = []
    private(set) var deleted: Set<ObjectKey> = []
    /// Of these objects.
    private(set) var entities: Set<ObjectIdentifier> = []
    /// Whether objects may have changed that are not named, at the other ends of relationships.
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
    final var isTracked: Bool { resultsFollowers?.isAny ?? false }

    final func addFollower(_ controller: AnyFetchedResultsController) {
        ChangeEvents.want()
        let followers = resultsFollowers ?? ResultsFollowers()
        resultsFollowers = followers
        followers.add(controller)
    }
}
