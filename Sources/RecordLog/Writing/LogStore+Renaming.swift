extension LogStore {
    /// Gives a file another name in its directory, and makes that durable. For files of whatever kind.
    ///
    /// Crash points: before the rename the file has its old name; after it, until the directory is synced, either.
    /// - Parameter replacing: whether a file of that name is replaced.
    /// - Throws: `exists`, `notFound`, `permissionDenied`, `io`.
    public static func rename(
        _ path: String, to new: String, replacing: Bool, options: StoreOptions = StoreOptions()
    ) throws(StoreError) {
        let fileSystem = options.resolvedFileSystem()
        if !replacing, try fileSystem.identity(of: new) != nil {
            throw StoreError(.exists, path: new, "there is a file already", remedy: "Choose another path, or remove the file.")
        }
        let directory = try fileSystem.openDirectory(of: path)
        try fileSystem.rename(path, to: new)
        try directory.sync()
    }
}
