/// Errors for files that have the name of a temporary file that the engine needs.
///
/// The engine creates such a file exclusively and never through a link. If the name is taken, it opens that file without following a
/// link, examines it through that one descriptor, and removes it only if a crash left it; any other file stays.
enum FileInTheWay {
    /// - Parameter what: a description of the file that has the name.
    static func error(_ path: String, _ what: String) -> StoreError {
        StoreError(
            .exists, path: path, "\(what) has the name that a temporary file of the store needs",
            remedy: "Move it elsewhere, and try again; it was left as it is, and so was the store.")
    }
}

extension FileSystem {
    /// Opens a file that has the name of a temporary file.
    /// - Returns: nil if the name is free.
    /// - Throws: `exists` for a link, a directory, a pipe, a socket or a device.
    func openLeftover(_ path: String) throws(StoreError) -> (any StorageFile)? {
        do throws(StoreError) {
            return try open(path, .readWriteUnlinked)
        } catch {
            switch error.code {
            case .notFound: return nil
            case .isDirectory: throw FileInTheWay.error(path, "a directory")
            case .notAStore: throw FileInTheWay.error(path, "something that is no file")
            default: throw error
            }
        }
    }

    /// Whether the name still belongs to this file itself, not to a link to it.
    func isNamed(_ file: any StorageFile, _ path: String) throws(StoreError) -> Bool { try identity(ofName: path) == file.identity }

    /// Creates a temporary file.
    /// - Parameter model: the file whose permissions it gets; nil for none.
    /// - Returns: nil if another process created the file meanwhile.
    func createUnlessThere(
        _ path: String, like model: (any StorageFile)?, permittedAs attributes: FileAttributes? = nil
    ) throws(StoreError) -> (any StorageFile)? {
        do throws(StoreError) {
            if let model { return try create(path, like: model) }
            return try create(path, permittedAs: attributes)
        } catch {
            guard error.code == .exists else { throw error }
            return nil
        }
    }

    /// Locks a temporary file without waiting.
    /// - Returns: false, with the lock released, if the file is no longer the one at the path.
    /// - Throws: `locked` if another process is at work on the file.
    func lockIfNamed(_ file: any StorageFile, _ path: String) throws(StoreError) -> Bool {
        try file.lock(timeout: .zero)
        if try isNamed(file, path) { return true }
        file.unlock()
        return false
    }

    /// Locks the file at a path that another one is to replace. Its writers wait, so that no commit is acknowledged and lost with it.
    /// - Returns: nil if there is none.
    func lockReplaced(_ path: String, timeout: Duration) throws(StoreError) -> (any StorageFile)? {
        for _ in 0..<100 {
            guard let identity = try identity(of: path) else { return nil }
            let old = try open(path, .readWrite)
            try old.lock(timeout: timeout)
            if old.identity == identity, try self.identity(of: path) == identity { return old }
            old.unlock()
        }
        throw StoreError(.locked, path: path, "the file is replaced again and again", remedy: "Stop the other process.")
    }

    /// Removes an examined file, unless another file has its name by now: that one was not examined.
    func removeLeftover(_ file: any StorageFile, _ path: String) throws(StoreError) {
        guard try isNamed(file, path) else { return }
        try remove(path)
    }
}
