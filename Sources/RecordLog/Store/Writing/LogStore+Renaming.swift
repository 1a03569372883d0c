extension LogStore {
    /// Gives a file another name in its directory, and makes that durable. Works for files of any kind.
    ///
    /// Crash points: before the rename the file has its old name, and may have the other file's permissions. After it, until the directory is
    /// synced, the file has either name.
    /// - Parameters:
    ///   - replacing: whether to replace a file of that name. The new file gets its permissions and, if the process may set them, its owner
    ///     and group.
    ///   - model: the file whose permissions to copy if no file is replaced; nil keeps the file's own.
    /// - Throws: `exists`, `notFound`, `permissionDenied`, `io`; `isDirectory`, or `notAStore` for a pipe, a socket or a device, at the new
    ///   name. The file then has its old name, unless only the sync of the directory failed.
    public static func rename(
        _ path: String, to new: String, replacing: Bool, like model: String? = nil, options: StoreOptions = StoreOptions()
    ) throws(StoreError) {
        let fileSystem = options.resolvedFileSystem()
        if replacing, try fileSystem.identity(of: new) != nil {
            try fileSystem.copyAttributes(to: path, from: fileSystem.open(new, .readOnly))
        } else if let model {
            try fileSystem.copyAttributes(to: path, from: fileSystem.open(model, .readOnly))
        }
        if !replacing, try fileSystem.identity(ofName: new) != nil {
            throw StoreError(.exists, path: new, "there is a file already", remedy: "Choose another path, or remove the file.")
        }
        let directory = try fileSystem.openDirectory(of: path)
        try fileSystem.rename(path, to: new)
        try directory.sync()
    }
}
