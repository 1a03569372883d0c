import Foundation
import Synchronization

/// The contexts that merge the saves of a coordinator's other contexts.
final class ContextFollowers: @unchecked Sendable {
    // Unchecked: contexts are only handed to their own queues.
    private struct Follower {
        weak var context: NSManagedObjectContext?
    }

    private struct State: @unchecked Sendable {
        var list: [Follower] = []
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func add(_ context: NSManagedObjectContext) {
        change { $0.append(Follower(context: context)) }
    }

    func remove(_ context: NSManagedObjectContext) {
        change { $0.removeAll { $0.context === context } }
    }

    private func change(_ body: (inout [Follower]) -> Void) {
        state.withLock { state in
            state.list.removeAll { $0.context == nil }
            body(&state.list)
            count.store(state.list.count, ordering: .relaxed)
        }
    }

    func merge(_ changes: MergedChanges, of source: NSManagedObjectContext) {
        forEach { context in
            guard context !== source else { return }
            context.perform { context.merge(changes) }
        }
    }

    func mergeCommits(of store: NSPersistentStore) {
        forEach { context in
            context.perform { context.mergeCommits(of: store) }
        }
    }

    private func forEach(_ body: (NSManagedObjectContext) -> Void) {
        guard !isEmpty else { return }
        var contexts: [NSManagedObjectContext] = []
        state.withLock { state in
            for follower in state.list { if let context = follower.context { contexts.append(context) } }
        }
        for context in contexts { body(context) }
    }
}
