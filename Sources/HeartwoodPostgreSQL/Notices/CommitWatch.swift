import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import Synchronization

/// Waits for the notices of other stores, and looks at the history from time to time: for commits whose notice was lost, and where the server has
/// no LISTEN. A thread of its own does that until the store is unloaded or released.
final class CommitWatch: Sendable {
    /// The time between two looks while notices come.
    private static let interval = Duration.seconds(1)

    private weak let store: PostgreSQLStore?
    private let configuration: PostgreSQLConfiguration
    private let channel: String
    private let sender: String
    private let listener = Mutex<PostgreSQLListener?>(nil)
    private let isEnded = Atomic(false)
    private let end = DispatchSemaphore(value: 0)
    /// Whether the server has LISTEN.
    private let listens: Bool

    init(_ store: PostgreSQLStore, _ location: StoreLocation, _ notices: CommitNotices, listens: Bool) {
        self.store = store
        self.listens = listens
        configuration = PostgreSQLConfiguration(location.connection)
        (channel, sender) = (notices.channel, notices.sender)
    }

    func begin() { Thread.detachNewThread { [self] in run() } }

    func stop() {
        guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        listener.withLock { $0 }?.close()
        end.signal()
    }

    private func run() {
        var hasListen = listens
        while isWanted {
            if hasListen {
                do {
                    try listen()
                } catch {
                    hasListen = error.kind != .server
                }
            }
            guard isWanted else { return }
            store?.lookForCommits()
            _ = end.wait(timeout: .now() + .milliseconds(Int(PostgreSQLStore.remotePollInterval)))
        }
    }

    private var isWanted: Bool { !isEnded.load(ordering: .acquiring) && store != nil }

    /// Listens until the connection is lost.
    private func listen() throws(PostgreSQLError) {
        let listener = try PostgreSQLListener(configuration, channels: [channel])
        self.listener.withLock { $0 = listener }
        defer { self.listener.withLock { $0 = nil } }
        // Others may have committed before it listened.
        store?.lookForCommits()
        while isWanted {
            let heard = try listener.wait(timeout: Self.interval)
            store?.lookForCommits(isNoticed: heard.contains { $0.payload != sender })
        }
    }
}
