import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import Synchronization

/// The store tells others of its commits, and learns of theirs.
extension PostgreSQLStore {
    /// Tells everybody of a commit of this store's own.
    func noteCommit() {
        loaded?.notices.tell()
        postRemoteChange()
    }

    /// Looks for commits of others, and tells the coordinator if there are some.
    /// - Parameter isNoticed: whether a notice has told of one. A store without a history learns by notices only.
    func lookForCommits(isNoticed: Bool = false) {
        let isNew = (try? newCommits()) == true
        guard isNoticed || isNew else { return }
        noteChange()
        announceRemoteChange()
    }

    /// - Returns: whether the history has transactions of others that the store has not told of.
    private func newCommits() throws -> Bool {
        let loaded = try open()
        guard loaded.keepsHistory else { return false }
        let table = loaded.location.table(StoreTables.transactions)
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
        let watch = CommitWatch(self, loaded.location, loaded.notices, listens: loaded.abilities.listens)
        self.watch.withLock { $0 = watch }
        watch.begin()
    }
}
