/// Files that stand where a file of the engine's own, which is made for a while, is to stand.
///
/// Such a file is made exclusively and never through a link. What has its name already is opened without following a link, looked at through
/// that one opening, and removed only where it is what a crash has left; anything else is somebody's, and stays.
enum FileInTheWay {
    /// - Parameter what: has the name.
    static func error(_ path: String, _ what: String) -> StoreError {
        StoreError(
            .exists, path: path, "\(what) has the name that a temporary file of the store needs",
            remedy: "Move it elsewhere, and try again; it was left as it is, and so was the store.")
    }
}

extension FileSystem {
    /// Opens what has the name of a temporary file.
    /// - Returns: nil where nothing has.
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

    /// Whether the name is still this file's, and not that of a link to it.
    func isNamed(_ file: any StorageFile, _ path: String) throws(StoreError) -> Bool { try identity(ofName: path) == file.identity }

    /// Removes a file that was looked at, unless another has its name by now: that one has not been looked at.
    func removeLeftover(_ file: any StorageFile, _ path: String) throws(StoreError) {
        guard try isNamed(file, path) else { return }
        try remove(path)
    }
}
