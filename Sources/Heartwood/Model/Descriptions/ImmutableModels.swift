import Foundation

/// The lock under which models and entities become immutable. Threads share a model, and each may be the first to give it to a coordinator. Entities
/// of several models share superentities, so there is one lock.
enum ImmutableModels {
    // Recursive: a program's subclass of a description may make a coordinator in a getter that is read here.
    private static let lock = NSRecursiveLock()

    static func alone(_ body: () -> Void) { lock.withLock(body) }
}
