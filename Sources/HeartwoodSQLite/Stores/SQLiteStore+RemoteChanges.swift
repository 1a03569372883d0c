import Foundation
import Heartwood

extension SQLiteStore {
    /// Starts a thread that reports the owner's commits, if the options ask for it. The thread ends soon after the store is released or unloaded.
    final func watchIfNeeded(_ path: String) {
        guard postsRemoteChanges else { return }
        let owner = WeakSQLiteStore(store: self)
        Thread.detachNewThread {
            let file = WatchedSQLiteFile(path: path)
            while owner.isUsed {
                if file.waitForCommit(milliseconds: Self.remotePollInterval) { owner.store?.announceRemoteChange() }
            }
        }
    }
}

/// Retains the store only during a check.
private struct WeakSQLiteStore: @unchecked Sendable {
    // Unchecked: a store may be used from several threads.
    weak var store: SQLiteStore?

    var isUsed: Bool { store?.isUsable ?? false }
}
