import HeartwoodPlatform
import Synchronization

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)

    /// Shares a file's lock fairly. Waiting processes try every millisecond or two. A process that holds the lock for long and takes it
    /// again at once would free it for microseconds only, and the others would never see that. So it rests for a sixty-fourth of
    /// the time it held the lock before it takes it again.
    ///
    /// A clock with a resolution of some milliseconds measures the times and costs almost nothing. Shorter commits do not rest.
    final class LockFairness: Sendable {
        // In nanoseconds of that clock; only the lock's holder writes them.
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

        /// Rests if this process held the lock for long and has just released it.
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
