import Foundation
import RecordLog

/// Whether `NSPersistentStoreRemoteChange` is posted for a store: a Boolean. The default is false. A store that has it watches its
/// file: where the system tells of writes it is heard at once, else within a quarter of a second. Without it commits of other
/// processes are noticed when the next fetch or save comes by.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// The URL of the store that was changed.
public let NSPersistentStoreURLKey = "storeURL"

extension Notification.Name {
    /// Posted by a coordinator, on any thread, once one of its stores has a new commit: by itself, or by another process or coordinator as soon as it
    /// learns of it. `NSStoreUUIDKey` and `NSPersistentStoreURLKey` say which, and `NSPersistentHistoryTokenKey`, where the store tracks its history,
    /// up to where. Commits in quick succession may be told of once.
    public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStore {
    /// Says that others have committed to this store.
    final func announceRemoteChange() {
        persistentStoreCoordinator?.followers.mergeCommits(of: self)
        postRemoteChange()
    }

    /// Tells of a commit, whoever made it: Core Data tells the coordinator that saved too, and code asks the history who it was.
    fileprivate final func postRemoteChange() {
        guard postsRemoteChanges, let coordinator = persistentStoreCoordinator else { return }
        var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: identifier ?? ""]
        if let url { userInfo[NSPersistentStoreURLKey] = url }
        if let place = try? rows?.knownHistory()?.newestPlace() {
            userInfo[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([identifier: place])
        }
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
    }

    fileprivate final var postsRemoteChanges: Bool {
        flag(NSPersistentStoreRemoteChangeNotificationPostOptionKey) ?? false
    }
}

extension RecordLogStore {
    /// Says what others have committed so far; where they have not, that this store has.
    /// - Parameter hasOwn: whether this store has committed just now.
    final func tellOfCommits(upTo sequence: UInt64, hasOwn: Bool = false) {
        if commits.takeForeign(upTo: sequence) {
            announceRemoteChange()
        } else if hasOwn {
            postRemoteChange()
        }
    }

    /// Begins to watch the file, where the options ask for it. The thread ends soon after the store has gone or was unloaded.
    final func watchIfWanted(_ path: String) {
        guard postsRemoteChanges, !(self is InMemoryStore) else { return }
        let owner = WeakStore(store: self)
        Thread.detachNewThread {
            let watcher = FileWatchers.watcher(of: path)
            while owner.follow() { watcher.wait(milliseconds: Self.lookInterval) }
        }
    }

    /// Each look reads two words of memory.
    private static let lookInterval: Int32 = 250
}

/// Holds a store only while it looks.
private struct WeakStore: @unchecked Sendable {
    // Unchecked: a store may be used from several threads.
    weak var store: RecordLogStore?

    /// - Returns: false where there is nothing to watch any more.
    func follow() -> Bool {
        guard let store, store.log != nil else { return false }
        store.followOthers()
        return true
    }
}
