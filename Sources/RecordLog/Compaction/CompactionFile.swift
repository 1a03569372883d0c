/// The file beside the store that a compaction fills. Its lock says that one is under way, in this process or another.
///
/// A crash leaves the file without its lock: the next compaction removes it. It is not filled again, since what stands at
/// its path may be a link to something else.
final class CompactionFile {
    let path: String
    let storage: any StorageFile
    private let fileSystem: any FileSystem
    private var isNamed = true

    static let suffix = ".compacting"

    private init(path: String, storage: any StorageFile, fileSystem: any FileSystem) {
        self.path = path
        self.storage = storage
        self.fileSystem = fileSystem
    }

    /// Makes the file, and locks it.
    /// - Parameter target: the store's own file, links followed.
    /// - Throws: `locked` where a compaction is under way.
    static func claim(besides target: String, _ fileSystem: any FileSystem) throws(StoreError) -> CompactionFile {
        let path = target + suffix
        for _ in 0..<100 {
            if let left = try open(path, .readWrite, fileSystem) {
                // Who has its lock may take the path: an earlier one's, or the file that another is just making.
                guard try lock(left, path, fileSystem) else { continue }
                defer { left.unlock() }
                try fileSystem.remove(path)
            }
            guard let made = try open(path, .create, fileSystem), try lock(made, path, fileSystem) else { continue }
            return CompactionFile(path: path, storage: made, fileSystem: fileSystem)
        }
        throw underWay(path)
    }

    /// - Returns: nil where another compaction made or removed the file meanwhile.
    private static func open(_ path: String, _ mode: OpenMode, _ fileSystem: any FileSystem) throws(StoreError) -> (any StorageFile)? {
        do throws(StoreError) {
            return try fileSystem.open(path, mode)
        } catch {
            guard error.code == (mode == .create ? .exists : .notFound) else { throw error }
            return nil
        }
    }

    /// Locks a file without waiting.
    /// - Returns: false where it is not the one at the path any more; its lock is let go then.
    private static func lock(_ storage: any StorageFile, _ path: String, _ fileSystem: any FileSystem) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try storage.lock(timeout: .zero)
        } catch {
            throw error.code == .locked ? underWay(path) : error
        }
        if try fileSystem.identity(of: path) == storage.identity { return true }
        storage.unlock()
        return false
    }

    private static func underWay(_ path: String) -> StoreError {
        StoreError(
            .locked, path: path, "a compaction of this store is under way already",
            remedy: "Nothing is to be done; the store is as it was, and can be read and written meanwhile.")
    }

    /// Puts the file in the store's place.
    func rename(to target: String) throws(StoreError) {
        try fileSystem.rename(path, to: target)
        isNamed = false
    }

    /// Removes the file, unless it has become the store's.
    func abandon() {
        // Before the lock goes: after that the path may be another's.
        if isNamed { try? fileSystem.remove(path) }
        storage.unlock()
    }
}
