import Synchronization

/// What a container and the twin that its main context holds have in common.
final class SharedContainerState: Sendable {
    let configurations: Mutex<Set<ModelConfiguration>>
    let mainContext = Mutex(WeakModelContext(context: nil))
    /// Those of the contexts, which are told of each other's saves.
    private let entries = Mutex<[WeakInbox]>([])

    private struct WeakInbox: Sendable {
        weak let inbox: SaveInbox?
    }

    init(_ configurations: Set<ModelConfiguration>) { self.configurations = Mutex(configurations) }

    func register(_ inbox: SaveInbox) {
        let entry = WeakInbox(inbox: inbox)
        entries.withLock { entries in
            entries.removeAll { $0.inbox == nil }
            entries.append(entry)
        }
    }

    var inboxes: [SaveInbox] { entries.withLock { $0.compactMap(\.inbox) } }
}
