/// Retries an operation that another store's writer blocked, for as long as a lock may take.
///
/// A thread that needs a second lock does not wait for it while it holds the first. It releases the first, pauses, and begins anew.
struct LockRetry {
    let path: String
    let timeout: Duration
    private var deadline: ContinuousClock.Instant?
    /// The number of pauses before the next try. It doubles each time, up to about 10 ms in total.
    private var pauses = 4

    init(path: String, timeout: Duration) {
        self.path = path
        self.timeout = timeout
    }

    /// Returns when it is time to try again.
    /// - Throws: `error` if it is not about another store's lock, or if the time is up.
    mutating func wait(for error: StoreError) throws(StoreError) {
        let now = ContinuousClock.now, until = deadline ?? now + timeout
        deadline = until
        // If it is the store's own lock, the caller has waited for it already.
        guard error.code == .locked, error.path != path, now < until else { throw error }
        for _ in 0..<pauses { SystemThread.rest() }
        pauses = min(pauses * 2, 200)
    }
}
