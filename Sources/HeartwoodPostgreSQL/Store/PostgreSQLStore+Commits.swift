import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import Synchronization

/// What this store tells of commits, and learns of them.
extension PostgreSQLStore {
    /// Tells everybody of a commit of this store's own.
    func noteCommit() {
        loaded?.notices.tell()
        postRemoteChange()
    }

    /// Tells the coordinator that others have committed.
    func noteForeignCommit() {
        _ = try? newCommits()
        noteChange()
        announceRemoteChange()
    }

    /// Looks whether others have committed. A store without a history learns by notices only.
    func lookForCommits() {
        guard (try? newCommits()) == true else { return }
        noteChange()
        announceRemoteChange()
    }

    /// - Returns: whether the history has transactions of others that nobody was told of.
    private func newCommits() throws -> Bool {
        let loaded = try open()
        guard loaded.keepsHistory else { return false }
        let table = "\(SQLName.quoted(loaded.location.schema)).\(StoreTables.transactions)"
        var parameters = PostgreSQLParameters(), text = "SELECT number FROM \(table) WHERE \(PostgreSQLHistory.visible)"
        if let seen = loaded.known.seen {
            parameters.addInt64(seen)
            text += " AND number > $1 ORDER BY number"
        } else {
            text += " ORDER BY number DESC LIMIT 1"
        }
        let found = try read(PostgreSQLStatement(text), parameters)
        return loaded.known.take(try (0..<found.count).map { try found.int64($0, 0) })
    }

    package func watchIfNeeded() {
        guard isWatchWanted, let loaded, !isWatched.exchange(true, ordering: .relaxed) else { return }
        let watch = CommitWatch(self, loaded.location, loaded.notices)
        self.watch.withLock { $0 = watch }
        watch.begin()
    }
}
