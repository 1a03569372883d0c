import Synchronization

/// The handles of this process that may write.
///
/// A file does not show its handles: snapshots keep it open after their handle was closed, and a handle locks it only while it writes.
enum OpenStores {
    private final class Entry: Sendable {
        weak let store: LogStore?

        init(_ store: LogStore) { self.store = store }
    }

    private static let entries = Mutex<[Entry]>([])

    static func add(_ store: LogStore) {
        entries.withLock { entries in
            entries.removeAll { $0.store == nil }
            entries.append(Entry(store))
        }
        ProcessExit.run { writeCheckpoints() }
    }

    /// As the process ends.
    private static func writeCheckpoints() {
        // Another thread may hold the lock, or has held it when the process was forked.
        let stores = entries.withLockIfAvailable { $0.compactMap(\.store) }
        for store in stores ?? [] { store.checkpointAtExit() }
    }

    /// Whether an open handle may write to this file.
    static func hasWriter(of identity: FileSystemIdentity, in fileSystem: any FileSystem, besides own: LogStore? = nil) -> Bool {
        entries.withLock { $0.compactMap(\.store) }.contains { $0 !== own && $0.writes(to: identity, in: fileSystem) }
    }
}

extension LogStore {
    fileprivate func writes(to identity: FileSystemIdentity, in other: any FileSystem) -> Bool {
        guard snapshot().file.storage.identity == identity, isSame(fileSystem, other) else { return false }
        // If another thread holds the lock, it is writing.
        return writerLock.holdIfAvailable(for: self) { !$0.writer.isClosed } ?? true
    }

    /// Identities are unique within one file system.
    private func isSame(_ a: any FileSystem, _ b: any FileSystem) -> Bool {
        guard type(of: a) == type(of: b) else { return false }
        return !(type(of: a) is AnyClass) || (a as AnyObject) === (b as AnyObject)
    }
}
