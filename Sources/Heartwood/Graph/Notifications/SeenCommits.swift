import Synchronization

/// Distinguishes a handle's own commits from others by their numbers.
package final class SeenCommits: Sendable {
    private struct State {
        var newest: UInt64 = 0
        var hasForeign = false
    }

    private let state = Mutex(State())
    /// The newest number while no commit of others is unreported, so that a fetch needs no lock to read it; 0 otherwise.
    private let reported = Atomic<UInt64>(0)

    package init() {}

    package func begin(at sequence: UInt64) {
        change { $0.newest = sequence }
    }

    /// Notes that a transaction of this handle found `base` to be the newest commit and is about to make the next one. Call it under the store's
    /// write lock.
    package func note(base: UInt64, isFollowed: Bool) {
        change { state in
            if base > state.newest { state.hasForeign = true }
            state.newest = isFollowed ? base + 1 : base
        }
    }

    /// Whether others have committed since the last call.
    package func takeForeign(upTo sequence: UInt64) -> Bool {
        change { state in
            if sequence > state.newest {
                state.newest = sequence
                state.hasForeign = true
            }
            defer { state.hasForeign = false }
            return state.hasForeign
        }
    }

    /// Whether `takeForeign` would return false.
    func isReported(at sequence: UInt64) -> Bool { reported.load(ordering: .acquiring) == sequence }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer { reported.store(state.hasForeign ? 0 : state.newest, ordering: .releasing) }
            return body(&state)
        }
    }
}
