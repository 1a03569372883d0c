import Foundation

/// The fetched results controllers that follow a context's changes. Confined to the context's queue, but for controllers that go.
final class ResultsFollowers {
    private struct Follower {
        weak var controller: AnyFetchedResultsController?
    }

    private var list: [Follower] = []
    private var resets = 0

    /// Whether there may be one; those that have gone are noticed when something is told.
    var isAny: Bool { !list.isEmpty }

    func add(_ controller: AnyFetchedResultsController) {
        if !list.contains(where: { $0.controller === controller }) { list.append(Follower(controller: controller)) }
    }

    /// Tells all of them. Where one of those that are told resets the context the others hear of that alone: what was before it names
    /// objects that are no more.
    func tell(_ news: ResultsNews) {
        if case .reset = news { resets += 1 }
        let before = resets
        for follower in list where resets == before { follower.controller?.follow(news) }
        list.removeAll { $0.controller == nil }
    }
}

/// What a context tells the controllers that follow it.
enum ResultsNews {
    case changes(ChangeEvents)
    /// These objects were saved.
    case saved([NSManagedObject])
    /// The context has forgotten all of its objects.
    case reset
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
