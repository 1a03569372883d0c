import Platform
import Synchronization

/// Tells a process from the one that it was forked from, at the cost of a load.
///
/// A child of `fork()` shares the file locks of its parent's handles, has none of its threads, and may have got a mutex that one of
/// them held. So it writes nothing through such a handle, unlocks nothing, and waits for nothing. What makes a process without the C
/// library's `fork` (a bare `clone`) is not seen, and where the system has no `fork` the number never changes.
enum ForkGeneration {
    /// How many times this process and its ancestors were forked since the first handle was made.
    static var current: UInt64 { Counted.shared.forks.load(ordering: .relaxed) }

    private final class Counted: Sendable {
        static let shared = Counted()
        let forks = Atomic<UInt64>(0)

        private init() {
            #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
                // The handler runs in the child, where this object was made before.
                pthread_atfork(nil, nil, { Counted.shared.forks.add(1, ordering: .relaxed) })
            #endif
        }
    }

    static func refusal(_ path: String) -> StoreError {
        StoreError(
            .closed, path: path, "the store was opened before fork(), and this is the child, which shares its locks with its parent",
            remedy: "Open the store again in the child; nothing was written.")
    }
}
