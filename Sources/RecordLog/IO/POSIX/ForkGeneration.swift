import HeartwoodPlatform
import Synchronization

/// Distinguishes a process from its parent after a fork, for the cost of a load.
///
/// A child of `fork()` shares the file locks of its parent's handles, has none of its threads, and may inherit a mutex that one of
/// them held. So it writes nothing through such a handle, releases no lock, and waits for nothing. A process that is made without the
/// C library's `fork` (by a bare `clone`) is not recognized. On a system without `fork` the number never changes.
enum ForkGeneration {
    /// The number of forks of this process and its ancestors since the first handle was made.
    static var current: UInt64 { Counted.shared.forks.load(ordering: .relaxed) }

    private final class Counted: Sendable {
        static let shared = Counted()
        let forks = Atomic<UInt64>(0)

        private init() {
            #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
                // The handler runs in the child; this object was made before the fork.
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
