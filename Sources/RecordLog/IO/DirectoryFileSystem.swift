/// A file system that lists directories and makes them, for backups to a directory.
public protocol DirectoryFileSystem: FileSystem {
    /// Makes a directory; the one that holds it exists.
    /// - Returns: false if there is one already.
    func makeDirectory(_ path: String) throws(StoreError) -> Bool
    /// Makes a directory for files that others may read as far as they may read a file with these attributes.
    /// - Returns: false if there is one already.
    func makeDirectory(_ path: String, permittedAs model: FileAttributes) throws(StoreError) -> Bool
    /// The entries of a directory but `.` and `..`, in any order; nil if there is no such directory.
    /// - Throws: `invalidArgument` if a file has the path.
    func entries(ofDirectory path: String) throws(StoreError) -> [DirectoryEntry]?
}

extension DirectoryFileSystem {
    /// For file systems without permissions.
    public func makeDirectory(_ path: String, permittedAs model: FileAttributes) throws(StoreError) -> Bool { try makeDirectory(path) }
}

/// An entry of a directory, with links followed.
public struct DirectoryEntry: Sendable, Hashable {
    public var name: String
    public var isDirectory: Bool
    /// The length of a file in bytes.
    public var size: UInt64

    public init(name: String, isDirectory: Bool, size: UInt64) {
        self.name = name
        self.isDirectory = isDirectory
        self.size = size
    }

    /// The entries of a directory in a file system that knows paths only.
    /// - Parameter files: the sizes of all files, by path.
    public static func list(of directory: String, among files: [String: UInt64]) -> [DirectoryEntry]? {
        let prefix = directory.hasSuffix("/") ? directory : directory + "/"
        var found: [String: DirectoryEntry] = [:]
        for (path, size) in files where path.hasPrefix(prefix) {
            let rest = path.dropFirst(prefix.count)
            let name = String(rest.prefix { $0 != "/" }), isDirectory = name.count < rest.count
            found[name] = DirectoryEntry(name: name, isDirectory: isDirectory, size: isDirectory ? 0 : size)
        }
        return found.isEmpty ? nil : Array(found.values)
    }
}
