import Foundation
internal import HeartwoodPostgreSQLClient
import Synchronization

/// Tells the other stores of a schema that this one has committed, by NOTIFY.
///
/// A transaction that notifies holds a lock of the whole database while it commits. So the notice is a statement of its own behind the commit, from
/// another thread, and one stands for all commits since the one before. A notice may be lost with the process; a store that waits for notices looks
/// at the history from time to time as well.
final class CommitNotices: Sendable {
    /// The shortest time between two notices.
    private static let pause = DispatchTimeInterval.milliseconds(20)

    /// The channel of a schema.
    let channel: String
    /// The payload of this store's notices, by which it knows them.
    let sender = UUID().uuidString
    private let pool: PostgreSQLPool
    private let queue = DispatchQueue(label: "HeartwoodPostgreSQL.CommitNotices")
    private let isWanted = Atomic(false)
    /// Another server that speaks the protocol may have no NOTIFY.
    private let isRefused = Atomic(false)

    init(_ location: StoreLocation, _ pool: PostgreSQLPool) {
        channel = SQLName.bounded("heartwood " + location.schema)
        self.pool = pool
    }

    /// Tells of a commit. It does not wait.
    func tell() {
        guard !isRefused.load(ordering: .relaxed), !isWanted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isWanted.store(false, ordering: .releasing)
            send()
            guard isWanted.load(ordering: .acquiring) else { return }
            // The next one is in the queue already; more commits may join it.
            Self.wait(Self.pause)
        }
    }

    private static func wait(_ time: DispatchTimeInterval) { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + time) }

    private func send() {
        do {
            var parameters = PostgreSQLParameters()
            try parameters.addText(channel)
            try parameters.addText(sender)
            _ = try pool.withConnection { try $0.execute("SELECT pg_notify($1, $2)", parameters) }
        } catch let error as PostgreSQLError where error.kind == .server {
            isRefused.store(true, ordering: .relaxed)
        } catch {
            // The connection is gone; those who wait look for themselves.
        }
    }
}
