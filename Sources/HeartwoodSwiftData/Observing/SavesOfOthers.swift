import Foundation
import Heartwood
import Synchronization

/// Makes a context take in the saves of other contexts and processes on its actor, as soon as they come, for as long as it is held.
final class SavesOfOthers: Sendable {
    private let follower: SaveFollower
    private let commits: CommitObserver

    fileprivate init(_ container: ModelContainer, _ follower: SaveFollower) {
        self.follower = follower
        let foreign = ForeignSaves(container)
        commits = container.container.persistentStoreCoordinator.observeCommits { _, isForeign in
            if isForeign { foreign.announce() }
        }
    }
}

/// Reads from the histories what other processes have saved, and hands it to the contexts of a container.
private final class ForeignSaves: Sendable {
    private let container: WeakContainer
    private let queue = DispatchQueue(label: "SwiftData.ForeignSaves")
    private let position: Mutex<NSPersistentHistoryToken?>

    private struct WeakContainer: Sendable {
        weak let container: ModelContainer?
    }

    init(_ container: ModelContainer) {
        self.container = WeakContainer(container: container)
        position = Mutex(container.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
    }

    func announce() {
        queue.async { [self] in
            guard let container = container.container, let token = position.withLock({ $0 }) else { return }
            let newest = container.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
            let transactions = (try? DefaultHistory.transactions(of: container, after: token)) ?? []
            position.withLock { $0 = (newest ?? token).passing(transactions) }
            var saved = SavedChanges()
            for change in transactions.flatMap({ $0.changes ?? [] }) {
                switch change.changeType {
                case .insert: saved.inserted.insert(change.changedObjectID)
                case .update: saved.updated.insert(change.changedObjectID)
                case .delete: saved.deleted.insert(change.changedObjectID)
                }
            }
            if !saved.isEmpty { container.announce(saved, by: nil) }
        }
    }
}

extension ModelContext {
    /// Takes in the saves of others on an actor as they come; nil leaves them to the next use of the context.
    func followSavesOfOthers(on actor: (any Actor)?) -> SavesOfOthers {
        let weak = WeakModelContext(context: self)
        let follower = SaveFollower {
            guard let actor else { return }
            Task { await Self.takeIn(weak, on: actor) }
        }
        inbox.follow(follower)
        return SavesOfOthers(container, follower)
    }

    private static func takeIn(_ weak: WeakModelContext, on actor: isolated any Actor) { weak.context?.takeInSaves() }
}
