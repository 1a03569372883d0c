/// The location of a handle's file.
package enum StoreLocation: Sendable, Equatable {
    /// At the path by which it was opened.
    case inPlace
    /// At another path. A file at the old path, if any, is newer.
    case moved(to: String)
    /// At no path: the file was removed and exists only as long as it is open. Or it was moved, and the system does not report its new path.
    case removed
    /// Another store, or a file that is no store, has taken its path.
    case replaced
}

extension LogStore {
    /// Finds out the location of the file. If a file of the same identity has taken the path, such as a compaction's, it is this store's own,
    /// and the handle goes over to it.
    /// - Throws: `closed`, `poisoned`; `corrupt` and the system's errors.
    /// - Complexity: one system call if nothing has happened.
    package func locate() throws(StoreError) -> StoreLocation {
        try exclusively { locked throws(StoreError) in
            locked.finishSyncs()
            try locked.check()
            let storage = locked.writer.file.storage
            guard let found = try fileSystem.identity(of: path) else {
                guard let elsewhere = storage.currentPath(), try fileSystem.identity(of: elsewhere) == storage.identity
                else { return .removed }
                return .moved(to: elsewhere)
            }
            guard found != storage.identity else { return .inPlace }
            do throws(StoreError) {
                try locked.catchUp(isLocked: false)
                return .inPlace
            } catch {
                guard [.superseded, .notAStore, .isDirectory, .unsupportedVersion].contains(error.code) else { throw error }
                return .replaced
            }
        }
    }
}
