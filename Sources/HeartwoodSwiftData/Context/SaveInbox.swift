import Foundation
import Synchronization

/// What other contexts have saved since a context looked.
///
/// It is all of a context that other threads touch: a saving thread that held the context itself might end up as its last owner, and free models
/// beside the thread that uses them.
final class SaveInbox: Sendable {
    private let changes = Mutex(SavedChanges())
    /// Whether there are changes: an insertion looks for them, and is one of many.
    private let isFilled = Atomic(false)
    /// Those who are told of such saves.
    private let followers = Mutex<[WeakFollower]>([])

    private struct WeakFollower: Sendable {
        weak let follower: SaveFollower?
    }

    func receive(_ more: SavedChanges) {
        changes.withLock {
            $0.add(more)
            if !$0.isEmpty { isFilled.store(true, ordering: .releasing) }
        }
        for follower in followers.withLock({ $0.compactMap(\.follower) }) { follower.takeIn() }
    }

    /// The changes, once; nil without any.
    func take() -> SavedChanges? {
        guard isFilled.load(ordering: .acquiring) else { return nil }
        return changes.withLock { changes in
            defer { changes = SavedChanges() }
            isFilled.store(false, ordering: .releasing)
            return changes
        }
    }

    /// Tells the follower of the saves of others, as long as somebody holds it.
    func follow(_ follower: SaveFollower) {
        let entry = WeakFollower(follower: follower)
        followers.withLock { followers in
            followers.removeAll { $0.follower == nil }
            followers.append(entry)
        }
    }
}

/// Makes a context take in the saves of other contexts as they come, for as long as it is held.
final class SaveFollower: Sendable {
    /// Called on any thread.
    let takeIn: @Sendable () -> Void

    init(_ takeIn: @escaping @Sendable () -> Void) { self.takeIn = takeIn }
}
