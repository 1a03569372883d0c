extension LogStore {
    /// Gives a file another name in its directory, and makes that durable. For files of whatever kind.
    ///
    /// Crash points: before the rename the file has its old name, and maybe the other's permissions; after it, until the directory is synced,
    /// either.
    /// - Parameters:
    ///   - replacing: whether a file of that name is replaced. The new one gets its permissions and, where the process may, its owner and group.
    ///   - model: whose permissions it gets where it replaces none; nil: it keeps its own.
    /// - Throws: `exists`, `notFound`, `permissionDenied`, `io`; `isDirectory`, and `notAStore` for a pipe, a socket or a device, of that name.
    ///   The file has its old name then, unless the directory could not be synced.
    public static func rename(
        _ path: String, to new: String, replacing: Bool, like model: String? = nil, options: StoreOptions = StoreOptions()
    ) throws(StoreError) {
        let fileSystem = options.resolvedFileSystem()
        if replacing, try fileSystem.identity(of: new) != nil {
            try fileSystem.liken(path, to: fileSystem.open(new, .readOnly))
        } else if let model {
            try fileSystem.liken(path, to: fileSystem.open(model, .readOnly))
        }
        if !replacing, try fileSystem.identity(ofName: new) != nil {
            throw StoreError(.exists, path: new, "there is a file already", remedy: "Choose another path, or remove the file.")
        }
        let directory = try fileSystem.openDirectory(of: path)
        try fileSystem.rename(path, to: new)
        try directory.sync()
    }
}
