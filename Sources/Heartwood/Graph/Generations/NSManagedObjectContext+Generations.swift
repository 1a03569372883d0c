import Foundation

/// Contexts that read one commit of each store, whatever others save meanwhile.
///
/// A view of a commit stays readable while it is held, so a pinned context keeps the views that it has. What it writes is written on top
/// of the newest commit like anybody's: rows carry the versions that were read, and a save finds the conflicts.
extension NSManagedObjectContext {
    /// The commits that this context reads; nil where it reads the newest ones, and in a child, which reads what its root reads.
    public final var queryGenerationToken: NSQueryGenerationToken? {
        checkQueue()
        return generation
    }

    /// Pins the context: from now on fetches, counts, faults and relationships read one commit of each store, whatever others save.
    ///
    /// Objects that were read already stay as they are until they are refreshed. `save()`, `reset()`, `refreshAllObjects()` and merging
    /// changes, by hand or automatically, take the context to the newest commits, and it stays pinned there. A save that fails leaves it
    /// where it was, unless a merge policy has resolved a conflict in it. Saves meet the same conflicts as those of any context. Delete
    /// rules follow the relationships that the context reads: whoever came to an object since then keeps pointing at it when it goes.
    ///
    /// Incremental stores, which are asked, are read as they are. A store that is added later is read from the commit that is its newest
    /// at the first look. Batch requests work on what is newest, and do not move the context.
    /// - Parameter generation: `.current` for the newest commits, also of other processes; another context's `queryGenerationToken` for
    ///   what that one reads; nil to read what is newest from now on.
    /// - Throws: 134070 where the context has no coordinator, or the token is another coordinator's; nothing changes then.
    /// - Precondition: the context has no parent.
    /// - Complexity: O(stores); nothing is read. A pinned context costs memory for what its commits have and the newest have not.
    public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        checkQueue()
        precondition(parentContext == nil, "A child context reads what its root reads; set the query generation of the root.")
        guard let generation else { return pin(to: nil) }
        guard let coordinator else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The context has no coordinator; set it before the query generation.")
        }
        guard generation !== NSQueryGenerationToken.current else {
            for store in coordinator.persistentStores { try store.follow() }
            return pin(to: NSQueryGenerationToken(coordinator))
        }
        guard generation.belongs(to: coordinator) else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "The query generation is of another coordinator; take it from a context of this one, or use .current.")
        }
        pin(to: generation)
    }

    private func pin(to new: NSQueryGenerationToken?) {
        generation = new
        tree.isPinned = new != nil
        forgetLastView()
    }

    /// Takes a pinned context to the newest commits that this process knows of.
    @inline(__always)
    final func advanceGeneration() {
        if generation != nil { advance() }
    }

    @inline(never)
    private func advance() {
        pin(to: NSQueryGenerationToken(coordinator))
    }

    /// Runs what compares with the newest commits. Where that throws, the context reads what it has read before.
    final func readingNewest(_ body: () throws -> Void) throws {
        let old = generation
        advanceGeneration()
        do {
            try body()
        } catch {
            pin(to: old)
            throw error
        }
    }

    /// What the root reads; nil for what is newest.
    final var effectiveGeneration: NSQueryGenerationToken? {
        guard parentContext != nil else { return generation }
        return tree.isPinned ? askParent { $0.effectiveGeneration } : nil
    }

    /// Whether a view of this store that is not the newest is the right one.
    @inline(never)
    final func isPinned(on store: NSPersistentStore) -> Bool {
        generation != nil && store.persistentStoreCoordinator != nil
    }
}
