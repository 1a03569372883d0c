internal import RecordLog

/// The attempts at one call so far, and the pauses between them.
struct S3Attempts {
    private let client: S3Client
    private let call: S3Call
    /// Since the latest progress.
    private var count = 1
    private var start = ContinuousClock.now
    private var total = 1
    private let first = ContinuousClock.now
    private var isClockSet = false

    init(_ client: S3Client, _ call: S3Call) {
        self.client = client
        self.call = call
    }

    /// Pauses before the next attempt.
    /// - Throws: the fault as an error if it will not pass, or if the policy permits no more attempts; `CancellationError`.
    mutating func pause(after fault: S3Fault) async throws {
        if case .skewed(let seconds) = fault.kind, !isClockSet {
            isClockSet = true
            total += 1
            return client.setClock(secondsAhead: seconds)
        }
        let pause = client.retries.pause(after: count, asked: fault.retryAfter, random: .random(in: 0...1))
        let seconds = start.duration(to: .now) / .seconds(1) + pause
        guard fault.kind == .temporary, count < client.retries.attempts, seconds < client.retries.timeLimit else { throw error(fault) }
        try await Task.sleep(for: .seconds(pause))
        count += 1
        total += 1
    }

    /// Begins to count anew, since the attempts get on.
    mutating func noteProgress() {
        count = 1
        start = .now
    }

    func error(_ fault: S3Fault) -> BackupError {
        fault.backupError(call, client.location, attempts: total, seconds: first.duration(to: .now) / .seconds(1))
    }
}
