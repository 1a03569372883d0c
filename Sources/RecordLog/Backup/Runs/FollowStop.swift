import Synchronization

/// Ends a loop of work and sleep. Work that is under way at that moment runs to its end.
final class FollowStop: Sendable {
    private struct State {
        var isStopped = false
        var sleeper: Task<Void, Never>?
    }

    private let state = Mutex(State())

    var isStopped: Bool { state.withLock { $0.isStopped } }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.sleeper?.cancel()
        }
    }

    /// Returns after a time, or once the loop is to stop.
    func sleep(for duration: Duration) async {
        let sleeper = Task { _ = try? await Task.sleep(for: duration) }
        state.withLock { state in
            state.sleeper = sleeper
            if state.isStopped { sleeper.cancel() }
        }
        await sleeper.value
    }

    /// Runs a loop in a task of its own, which the caller's cancellation stops after its work.
    static func run(_ loop: @escaping @Sendable (FollowStop) async throws -> Void) async throws {
        let stop = FollowStop()
        let task = Task { try await loop(stop) }
        try await withTaskCancellationHandler { try await task.value } onCancel: { stop.stop() }
    }

    /// The time until the next attempt after so many failed ones.
    static func wait(_ interval: Duration, afterFailures count: Int) -> Duration {
        guard count > 0 else { return interval }
        return min(max(interval, .milliseconds(100)) * (1 << min(count, 10)), max(interval, .seconds(60)))
    }
}
