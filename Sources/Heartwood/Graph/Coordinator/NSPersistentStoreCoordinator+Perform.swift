import Foundation

/// Serial work on the coordinator's queue. A coordinator may be used from several threads without it. Code of several steps that no other
/// such code should interrupt goes into one block.
extension NSPersistentStoreCoordinator: PerformingAndWaiting {
    final var isSubclassed: Bool { type(of: self) != NSPersistentStoreCoordinator.self }

    /// Runs `block` on the coordinator's queue and returns its result; throws only the error that the block throws.
    @concurrent
    public final func perform<T, E: Error>(_ block: sending @escaping () throws(E) -> T) async throws(E) -> T {
        try await queue.run(isImmediate: true, block)
    }
}

// As that of contexts: see NSManagedObjectContext+Perform.swift.
extension NSObjectProtocol where Self: NSPersistentStoreCoordinator {
    /// Runs `block` on the coordinator's queue and waits for it. May be called from the queue itself.
    public func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        guard isSubclassed else { return try queue.sync(block) }
        return try resultOfPerforming(block)
    }
}
