import Synchronization

/// A tree that is made when it is first read. All threads use the same one.
struct NodeMadeOnce: ~Copyable, Sendable {
    // Unchecked: a tree is immutable except for the caches of its comparisons, which have locks.
    // Not private: the compiler (6.3.1) fails in the files that hold the type.
    struct Made: @unchecked Sendable {
        let node: PredicateNode
    }

    private let made: Mutex<Made?>

    /// - Parameter node: nil where it is made later.
    init(_ node: PredicateNode? = nil) {
        made = Mutex(node.map(Made.init))
    }

    /// - Parameter make: called without the lock, since making a tree may call the program's own code.
    borrowing func node(_ make: () -> PredicateNode) -> PredicateNode {
        if let made = made.withLock({ $0 }) { return made.node }
        let new = Made(node: make())
        return made.withLock { made in
            // Another thread may have made it meanwhile.
            let first = made ?? new
            made = first
            return first
        }.node
    }
}
