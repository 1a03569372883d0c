import Platform
import Synchronization

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)

    /// Lets others have a file's lock as well. Those that wait look for it every millisecond or two; whoever holds it for long and takes it
    /// again at once would let go of it for microseconds, and they would never see it. So that one rests for a sixty-fourth of the time it
    /// held the lock before it takes it again.
    ///
    /// It is all by a clock of some milliseconds' resolution, which costs next to nothing: commits that take less do not rest.
    final class LockFairness: Sendable {
        // In nanoseconds of that clock; written by whoever has the lock.
        private let taken = Atomic<Int64>(0)
        private let released = Atomic<Int64>(0)
        private let held = Atomic<Int64>(0)

        private static let leastHeld: Int64 = 8_000_000
        private static let longestGap: Int64 = 4_000_000
        private static let longestRest: Int64 = 5_000_000

        func take() { taken.store(Self.now(), ordering: .relaxed) }

        func release() {
            let now = Self.now()
            released.store(now, ordering: .relaxed)
            held.store(now - taken.load(ordering: .relaxed), ordering: .relaxed)
        }

        /// Rests where the lock was held for long and let go of just now.
        func rest() {
            let held = held.load(ordering: .relaxed)
            guard held >= Self.leastHeld, Self.now() - released.load(ordering: .relaxed) <= Self.longestGap else { return }
            usleep(UInt32(min(held / 64, Self.longestRest) / 1000))
        }

        private static func now() -> Int64 {
            var time = timespec()
            #if canImport(Darwin)
                clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &time)
            #else
                clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
            #endif
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }
#endif
