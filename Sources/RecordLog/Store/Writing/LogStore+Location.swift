/// Where a handle's file is now.
public enum StoreLocation: Sendable, Equatable {
    /// At the path it was opened by.
    case inPlace
    /// At another path; what is at the old one, if anything, came later.
    case moved(to: String)
    /// Nowhere: it was removed, and is there as long as it is open. Or it was moved, and the system does not tell where to.
    case removed
    /// Another store, or another file altogether, has taken its path.
    case replaced
}

extension LogStore {
    /// Looks where the file is. A file of the same identity that has taken its path, as a compaction's has, is this store's own: the
    /// handle goes over to it.
    /// - Throws: `closed`, `poisoned`; `corrupt` and the system's errors.
    /// - Complexity: one call of the system where nothing has happened.
    public func locate() throws(StoreError) -> StoreLocation {
        try exclusively { () throws(StoreError) in
            try writer.check(path: path)
            let storage = writer.file.storage
            guard let found = try fileSystem.identity(of: path) else {
                guard let elsewhere = storage.currentPath(), try fileSystem.identity(of: elsewhere) == storage.identity
                else { return .removed }
                return .moved(to: elsewhere)
            }
            guard found != storage.identity else { return .inPlace }
            do throws(StoreError) {
                try catchUp(isLocked: false)
                return .inPlace
            } catch {
                guard [.superseded, .notAStore, .isDirectory, .unsupportedVersion].contains(error.code) else { throw error }
                return .replaced
            }
        }
    }
}
