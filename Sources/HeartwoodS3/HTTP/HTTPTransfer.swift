import Synchronization

/// One request under way. The session's delegate feeds it; the first end counts: the delegate's, the watch's or the task's cancellation.
final class HTTPTransfer: Sendable {
    private struct State {
        var outcome = HTTPOutcome()
        var isOver = false
        var waiting: CheckedContinuation<HTTPOutcome, Never>?
        /// The latest time at which a byte was sent or received.
        var moved = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let answerMax: Int

    init(answerMax: Int) { self.answerMax = answerMax }

    /// Returns at the transfer's end.
    /// - Parameter start: begins the transfer. Not called if the end came first.
    func outcome(start: () -> Void) async -> HTTPOutcome {
        await withCheckedContinuation { continuation in
            let over = state.withLock { state -> HTTPOutcome? in
                guard !state.isOver else { return state.outcome }
                state.waiting = continuation
                return nil
            }
            if let over { continuation.resume(returning: over) } else { start() }
        }
    }

    /// Ends the transfer, unless it is over.
    /// - Parameter head: counts if none was received.
    func end(_ fault: HTTPFault?, head: HTTPHead? = nil) {
        let waiting = state.withLock { state -> (CheckedContinuation<HTTPOutcome, Never>, HTTPOutcome)? in
            guard !state.isOver else { return nil }
            state.isOver = true
            state.outcome.fault = fault
            state.outcome.head = state.outcome.head ?? head
            defer { state.waiting = nil }
            return state.waiting.map { ($0, state.outcome) }
        }
        waiting?.0.resume(returning: waiting?.1 ?? HTTPOutcome())
    }

    func receive(_ head: HTTPHead) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.outcome.head = head
            state.moved = .now
        }
    }

    /// - Returns: false if the body is longer than the request allows; the transfer is then over.
    func receive(_ bytes: some Collection<UInt8>) -> Bool {
        let fits = state.withLock { state -> Bool in
            guard !state.isOver else { return true }
            state.moved = .now
            guard bytes.count <= answerMax - state.outcome.body.count else { return false }
            state.outcome.body.append(contentsOf: bytes)
            return true
        }
        if !fits { end(.tooLong(bytes: answerMax)) }
        return fits
    }

    func noteSent() { state.withLock { $0.moved = .now } }

    /// Ends the transfer when no byte moves for `silence` seconds, or when it takes longer than `total` seconds.
    ///
    /// Foundation's own timer does not run while Foundation off Apple's platforms waits for an answer to a challenge.
    func watch(silence: Double, total: Double) async {
        let start = ContinuousClock.now
        while !Task.isCancelled {
            let (moved, isOver) = state.withLock { ($0.moved, $0.isOver) }
            guard !isOver else { return }
            if moved.duration(to: .now) >= .seconds(silence) { return end(.silence(seconds: silence)) }
            if start.duration(to: .now) >= .seconds(total) { return end(.slowness(seconds: total)) }
            // Cancellation ends the sleep and the loop.
            try? await Task.sleep(until: min(moved.advanced(by: .seconds(silence)), start.advanced(by: .seconds(total))), clock: .continuous)
        }
    }
}
