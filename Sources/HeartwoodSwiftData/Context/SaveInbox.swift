import Foundation
import Synchronization

/// What other contexts have saved since a context looked.
///
/// It is all of a context that other threads touch: a saving thread that held the context itself might end up as its last owner, and free models
/// beside the thread that uses them.
final class SaveInbox: Sendable {
    private let changes = Mutex(SavedChanges())
    /// Those who are told of such saves.
    private let followers = Mutex<[WeakFollower]>([])

    private struct WeakFollower: Sendable {
        weak let follower: SavesOfOthers?
    }

    /// Called on any thread after a save of another context.
    private let wake = Mutex<(@Sendable () -> Void)?>(nil)

    func wakes(_ body: @escaping @Sendable () -> Void) { wake.withLock { $0 = body } }

    func receive(_ more: SavedChanges) {
        changes.withLock { $0.formUnion(more) }
        wake.withLock { $0 }?()
        for follower in followers.withLock({ $0.compactMap(\.follower) }) { follower.call() }
    }

    /// The changes, once.
    func take() -> SavedChanges {
        changes.withLock { changes in
            defer { changes = SavedChanges() }
            return changes
        }
    }

    /// Tells the follower of the saves of others, as long as somebody holds it.
    func follow(_ follower: SavesOfOthers) {
        let entry = WeakFollower(follower: follower)
        followers.withLock { followers in
            followers.removeAll { $0.follower == nil }
            followers.append(entry)
        }
    }
}
