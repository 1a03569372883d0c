/// Tries again, for as long as a lock may take, what another store's writer was in the way of.
///
/// Whoever needs a second lock does not wait for it while holding the first: it lets go, rests, and begins anew.
struct LockRetry {
    let path: String
    let timeout: Duration
    private var deadline: ContinuousClock.Instant?
    /// The longer it lasts the longer it rests, up to about 10 ms.
    private var pauses = 4

    init(path: String, timeout: Duration) {
        self.path = path
        self.timeout = timeout
    }

    /// Returns when it is time to try again.
    /// - Throws: `error` where it is another one, or time is up.
    mutating func wait(for error: StoreError) throws(StoreError) {
        let now = ContinuousClock.now, until = deadline ?? now + timeout
        deadline = until
        // A lock of the store itself was waited for already.
        guard error.code == .locked, error.path != path, now < until else { throw error }
        for _ in 0..<pauses { SystemThread.rest() }
        pauses = min(pauses * 2, 200)
    }
}
