import Foundation

/// Work in the coordinator's turn. The coordinator may be used from several threads without it; code that takes several steps, and
/// wants no other such code between them, puts them into one block.
extension NSPersistentStoreCoordinator: PerformingAndWaiting {
    final var isSubclassed: Bool { type(of: self) != NSPersistentStoreCoordinator.self }

    /// Runs `block` on the coordinator's queue and waits for it. May be called from the queue itself.
    public final func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        guard isSubclassed else { return try queue.sync(block) }
        return try resultOfPerforming(block)
    }

    /// Runs `block` on the coordinator's queue and gives its result; throws what it throws, and nothing where it does not.
    @concurrent
    public final func perform<T, E: Error>(_ block: sending @escaping () throws(E) -> T) async throws(E) -> T {
        try await queue.run(isImmediate: true, block)
    }
}
