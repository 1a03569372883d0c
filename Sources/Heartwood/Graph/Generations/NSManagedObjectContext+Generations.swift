import Foundation

/// Contexts that read one commit of each store, even if other contexts or processes save.
///
/// A view of a commit stays readable while it is held, so a pinned context keeps its views. Its saves write on top of the newest commit
/// like those of any context: objects carry the row versions that were read, and the save finds the conflicts.
extension NSManagedObjectContext {
    /// The commits that this context reads; nil if it reads the newest ones, and in a child, which reads its root's.
    public final var queryGenerationToken: NSQueryGenerationToken? {
        checkQueue()
        return readState.generation
    }

    /// Pins the context: fetches, counts, faults and relationships then read one commit of each store, even if other contexts or processes
    /// save.
    ///
    /// Objects that were already read stay unchanged until they are refreshed. `save()`, `reset()`, `refreshAllObjects()` and merging
    /// changes, explicitly or automatically, move the context to the newest commits, and it stays pinned there. A save that fails does not
    /// move it, unless a merge policy has resolved a conflict in it. Saves meet the same conflicts as those of any context. Delete rules
    /// follow the relationships as the context reads them: an object that has pointed at a deleted object only since then keeps pointing at
    /// it.
    ///
    /// Incremental stores and SQLite stores are always read in their current state. A store that is added later is read from the commit that is
    /// newest when the store is first read. Batch requests work on the newest commits and do not move the context.
    /// - Parameter generation: `.current` for the newest commits, including other processes'; another context's `queryGenerationToken` for
    ///   the commits that it reads; nil to read the newest commits from now on.
    /// - Throws: 134070 if the context has no coordinator, or the token belongs to another coordinator; nothing has changed then.
    /// - Precondition: the context has no parent.
    /// - Complexity: O(stores); nothing is read. A pinned context costs memory for the rows of its commits that the newest commits no
    ///   longer have.
    public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        checkQueue()
        demand(parentContext == nil, "A child context reads what its root reads; set the query generation of the root.")
        guard let generation else { return pin(to: nil) }
        guard let coordinator else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The context has no coordinator; set it before the query generation.")
        }
        guard generation !== NSQueryGenerationToken.current else {
            for store in coordinator.persistentStores { try store.seam.follow() }
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
        readState.generation = new
        tree.isPinned = new != nil
        forgetLastView()
        beginEpoch()
    }

    /// Moves a pinned context to the newest commits that this process knows.
    @inline(__always)
    final func advanceGeneration() {
        if readState.generation != nil { advance() }
    }

    @inline(never)
    private func advance() {
        pin(to: NSQueryGenerationToken(coordinator))
    }

    /// Runs `body` on the newest commits. If it throws, the context reads its former commits again.
    final func readingNewest(_ body: () throws -> Void) throws {
        let old = readState.generation
        advanceGeneration()
        do {
            try body()
        } catch {
            pin(to: old)
            throw error
        }
    }

    /// The generation that the root reads; nil for the newest commits.
    final var effectiveGeneration: NSQueryGenerationToken? {
        guard parentContext != nil else { return readState.generation }
        return tree.isPinned ? askParent { $0.effectiveGeneration } : nil
    }

    /// Whether this context may keep a view of the store that is not the newest.
    @inline(never)
    final func isPinned(on store: NSPersistentStore) -> Bool {
        readState.generation != nil && store.persistentStoreCoordinator != nil
    }
}
