/// Limits of the attempts that follow a fault which may pass: throttling (429, 503, `SlowDown`), an error in the server (500, 502, 504), a lost
/// connection, or silence. A destination does not repeat a request that was refused (400, 403, 404).
public struct S3Retries: Sendable, Hashable {
    /// The most attempts of one request without progress, at least 1.
    public var attempts: Int
    /// The longest pause before the second attempt, in seconds. Each later one may be twice as long as the one before.
    public var firstPause: Double
    /// The longest pause, in seconds.
    public var longestPause: Double
    /// The time after which no further attempt begins, in seconds since the first attempt or the latest progress.
    public var timeLimit: Double

    public init(attempts: Int = 8, firstPause: Double = 0.25, longestPause: Double = 20, timeLimit: Double = 300) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.timeLimit = timeLimit
    }

    /// The pause after a number of attempts: a random part of a bound that doubles, so that clients that failed together do not come back
    /// together; at least what the server asks for.
    /// - Parameter random: from 0 to 1.
    func pause(after attempts: Int, asked: Double?, random: Double) -> Double {
        var bound = firstPause
        for _ in 1..<max(attempts, 1) where bound < longestPause { bound *= 2 }
        let pause = min(max(min(bound, longestPause) * random, asked ?? 0), longestPause)
        // A duration has no infinity.
        return pause.isFinite ? max(0, min(pause, 86_400)) : 0
    }
}
