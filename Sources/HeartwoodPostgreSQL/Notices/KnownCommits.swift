import Synchronization

/// The transactions of a history that a store has told of: its own, and those of others up to the newest that it has seen.
final class KnownCommits: Sendable {
    private struct State {
        var seen: Int64?
        /// This store's own behind `seen`.
        var own: Set<Int64> = []
    }

    private let state = Mutex(State())

    func noteOwn(_ number: Int64) {
        state.withLock { state in
            if number > state.seen ?? 0 { state.own.insert(number) }
        }
    }

    /// The number behind which to look; nil before the first look.
    var seen: Int64? { state.withLock { $0.seen } }

    /// Takes what a look has found.
    /// - Parameter numbers: behind `seen`, ascending; at the first look the newest one.
    /// - Returns: whether some are of others.
    func take(_ numbers: [Int64]) -> Bool {
        state.withLock { state in
            let isFirst = state.seen == nil, last = numbers.last ?? state.seen ?? 0
            let isForeign = !isFirst && numbers.contains { !state.own.contains($0) }
            state.seen = max(state.seen ?? 0, last)
            state.own = state.own.filter { $0 > last }
            return isForeign
        }
    }
}
