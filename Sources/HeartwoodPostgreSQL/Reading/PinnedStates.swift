import Synchronization

/// The pinned states of a store, which end with it: they hold locks that whatever destroys or migrates the store would wait for.
final class PinnedStates: Sendable {
    private struct Entry: Sendable {
        weak let state: PinnedState?
    }

    private let entries = Mutex<[Entry]>([])

    func add(_ state: PinnedState) {
        entries.withLock { entries in
            entries.removeAll { $0.state == nil }
            entries.append(Entry(state: state))
        }
    }

    func end() {
        let states = entries.withLock { entries in
            defer { entries = [] }
            return entries.compactMap(\.state)
        }
        for state in states { state.end() }
    }
}
