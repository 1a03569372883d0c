import Foundation
import RecordLog
import Synchronization

/// A store option: whether the coordinator posts `NSPersistentStoreRemoteChange` for the store, a Boolean. The default is false. A store with this
/// option watches its file: it learns of writes at once if the system reports them, and within a quarter of a second otherwise. Without it the next
/// fetch or save notices the commits of other processes.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// The URL of the changed store.
public let NSPersistentStoreURLKey = "storeURL"

extension Notification.Name {
    /// Posted by a coordinator, on any thread, after a commit to one of its stores: by itself, or by another process or coordinator as soon as it
    /// learns of that. `NSStoreUUIDKey` and `NSPersistentStoreURLKey` name the store; `NSPersistentHistoryTokenKey` gives the position in its
    /// history, if it tracks one. One notification may stand for several commits in quick succession.
    public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStore {
    /// Reports that others have committed to this store.
    package final func announceRemoteChange() {
        persistentStoreCoordinator?.commits.note()
        persistentStoreCoordinator?.followers.mergeCommits(of: self)
        postRemoteChange(isForeign: true)
    }

    /// Posts the notification for every committer: Core Data notifies the coordinator that saved too, and programs ask the history for the author.
    package final func postRemoteChange(isForeign: Bool = false) {
        guard let coordinator = persistentStoreCoordinator else { return }
        coordinator.commitObservers.report(self, isForeign: isForeign)
        guard postsRemoteChanges else { return }
        var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: identifier ?? ""]
        if let url { userInfo[NSPersistentStoreURLKey] = url }
        if let token = newestToken { userInfo[NSPersistentHistoryTokenKey] = token }
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
    }

    /// The position after the newest commit that this store knows; nil if it has no history.
    final var newestToken: NSPersistentHistoryToken? {
        (try? seam.historyStore?.knownHistory()?.newestPosition()).flatMap { NSPersistentHistoryToken([identifier: $0]) }
    }

    package final var postsRemoteChanges: Bool {
        flag(NSPersistentStoreRemoteChangeNotificationPostOptionKey) ?? false
    }

    /// Whether the options or an observer ask for the commits of others.
    package final var isWatchWanted: Bool { postsRemoteChanges || persistentStoreCoordinator?.commitObservers.isAny ?? false }

    /// The time between two looks at a watched file, in milliseconds.
    package static var remotePollInterval: Int32 { 250 }
}

extension RecordLogStore {
    /// Reports the commits of others so far, or else this store's own.
    /// - Parameter hasOwn: whether this store has just committed.
    final func reportCommits(upTo sequence: UInt64, hasOwn: Bool = false) {
        if commits.takeForeign(upTo: sequence) {
            announceRemoteChange()
        } else if hasOwn {
            postRemoteChange()
        }
    }

    /// Starts a thread that watches the file, if the options or an observer of commits ask for it. The thread ends soon after the store is released
    /// or unloaded.
    package final func watchIfNeeded() {
        guard isWatchWanted, !isInMemory, !showsPast, let path = log?.path,
            !isWatched.exchange(true, ordering: .relaxed)
        else { return }
        let owner = WeakStore(store: self)
        Thread.detachNewThread {
            let watcher = FileWatchers.watcher(of: path)
            // Each check reads two words of memory.
            while owner.follow() { watcher.wait(milliseconds: Self.remotePollInterval) }
        }
    }
}

/// Retains the store only during a check.
private struct WeakStore: @unchecked Sendable {
    // Unchecked: a store may be used from several threads.
    weak var store: RecordLogStore?

    /// - Returns: false once the store is released or unloaded.
    func follow() -> Bool {
        guard let store, store.log != nil else {
            store?.isWatched.store(false, ordering: .relaxed)
            return false
        }
        store.followOthers()
        return true
    }
}
