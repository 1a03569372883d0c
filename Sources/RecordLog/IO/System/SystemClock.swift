import HeartwoodPlatform

enum SystemClock {
    /// Microseconds since 1970-01-01 UTC.
    static func now() -> Int64 {
        var time = timespec()
        #if canImport(ucrt)
            timespec_get(&time, TIME_UTC)
        #else
            clock_gettime(CLOCK_REALTIME, &time)
        #endif
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
