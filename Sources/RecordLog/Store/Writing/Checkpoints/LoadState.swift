/// Whether large commits follow each other. Guarded by the store's write lock.
struct LoadState {
    /// The time of the last large commit; nil if no load is in progress.
    private(set) var lastLarge: ContinuousClock.Instant?
    /// The time from the first large commit to the last one, of the newest load.
    private(set) var duration = Duration.zero
    private var firstLarge: ContinuousClock.Instant?
    /// Bytes of the commits after it.
    var smallBytes: UInt64 = 0
    /// Whether a thread waits for the load's end.
    var isWatched = false
    /// Whether index entries could not be spilled. Then the next checkpoint is not put off, since the entries stay in memory.
    var hasFailed = false

    /// Takes up a commit.
    mutating func note(_ bytes: UInt64, isLarge: Bool) {
        if isLarge {
            let now = ContinuousClock.now, first = firstLarge ?? now
            (firstLarge, lastLarge, smallBytes) = (first, now, 0)
            duration = now - first
        } else if lastLarge != nil {
            smallBytes += bytes
        }
    }

    /// Takes up the end of the load.
    mutating func end() { (firstLarge, lastLarge, smallBytes) = (nil, nil, 0) }
}
