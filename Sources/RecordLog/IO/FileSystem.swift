/// Everything the engine asks of the system. The one seam: only implementations of these two protocols make system calls.
public protocol FileSystem: Sendable {
    /// Opens a file.
    /// - Parameter mode: those that make the file fail where it exists.
    /// - Throws: `isDirectory`, and `notAStore` for a pipe, a socket or a device, without waiting for one.
    func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile
    /// The identity of the file at `path`; nil where there is none.
    func identity(of path: String) throws(StoreError) -> FileSystemIdentity?
    /// The identity of what has the name itself: of a symbolic link, not of the file that it leads to. nil where nothing has the name.
    func identity(ofName path: String) throws(StoreError) -> FileSystemIdentity?
    func rename(_ old: String, to new: String) throws(StoreError)
    func remove(_ path: String) throws(StoreError)
    /// Makes renames and creations in the directory of `path` durable.
    func syncDirectory(of path: String) throws(StoreError)
    /// Takes what `sync` needs, so that a rename which it is to make durable is not done where it cannot be.
    /// - Parameter path: of a file that is there and stays in the same file system.
    func openDirectory(of path: String) throws(StoreError) -> any OpenDirectory
    /// The path with symbolic links followed, so that a rename replaces the file and not a link to it.
    func resolved(_ path: String) throws(StoreError) -> String
    /// Bytes free for files beside `path`; nil where the system does not tell.
    func freeSpace(at path: String) -> UInt64?
    /// Whether files are there when the process is not.
    var outlivesProcess: Bool { get }
    /// Microseconds since 1970-01-01 UTC.
    func now() -> Int64
    /// Random bits, for identities.
    func random() -> UInt64
}

/// A directory, ready to be synced. It is let go with its last reference.
public protocol OpenDirectory: AnyObject, Sendable {
    /// Makes renames, creations and removals in it durable.
    func sync() throws(StoreError)
}

extension FileSystem {
    public var outlivesProcess: Bool { true }
    /// For file systems where there is nothing to run out of.
    public func openDirectory(of path: String) throws(StoreError) -> any OpenDirectory { DirectoryByPath(fileSystem: self, path: path) }
    /// For file systems without links.
    public func resolved(_ path: String) throws(StoreError) -> String { path }
    /// For file systems without links.
    public func identity(ofName path: String) throws(StoreError) -> FileSystemIdentity? { try identity(of: path) }

    /// Makes a file that stands beside another one, or is to take its place: at no moment may somebody read it who may not read that one.
    func create(_ path: String, like other: any StorageFile) throws(StoreError) -> any StorageFile {
        guard let attributes = try other.attributes() else { return try open(path, .create) }
        let file = try open(path, .createPrivate)
        do throws(StoreError) {
            try file.setAttributes(attributes)
        } catch {
            try? remove(path)
            throw error
        }
        return file
    }

    /// Gives a finished file, which is to take the place of another one, that one's permissions, owner and group.
    func liken(_ path: String, to other: any StorageFile) throws(StoreError) {
        guard try other.attributes() != nil else { return }
        try open(path, .readWriteUnlinked).liken(to: other)
    }
}

private final class DirectoryByPath: OpenDirectory {
    private let fileSystem: any FileSystem
    private let path: String

    init(fileSystem: any FileSystem, path: String) {
        self.fileSystem = fileSystem
        self.path = path
    }

    func sync() throws(StoreError) { try fileSystem.syncDirectory(of: path) }
}

public enum OpenMode: Sendable {
    case readOnly, readWrite, create
    /// As `readWrite`, but a symbolic link is not followed: opening one throws `exists`.
    case readWriteUnlinked
    /// As `create`, but nobody but its owner may read the file or write to it.
    case createPrivate

    /// Whether the file is made.
    public var creates: Bool { self == .create || self == .createPrivate }
}

/// Who may do what with a file.
public struct FileAttributes: Sendable, Equatable {
    /// As POSIX has them.
    public var permissions: UInt32
    public var owner: UInt32
    public var group: UInt32
    /// An access control list, as the system keeps it; nil for none. Where there is one, the group's permissions are its mask.
    public var accessList: [UInt8]?

    public init(permissions: UInt32, owner: UInt32, group: UInt32, accessList: [UInt8]? = nil) {
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.accessList = accessList
    }

    /// The same for a file with another owner or group: who gets in by either may do what everybody may, and nothing in its owner's name.
    func narrowed(keepsOwner: Bool, keepsGroup: Bool) -> UInt32 {
        var narrowed = permissions
        if !keepsGroup { narrowed &= ~0o70 | (permissions & 0o7) << 3 }
        if !keepsOwner || !keepsGroup { narrowed &= 0o1777 }
        return narrowed
    }
}

/// Tells one file from another, whatever their paths.
public struct FileSystemIdentity: Hashable, Sendable {
    public var device: UInt64
    public var inode: UInt64

    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// An open file. Reads and writes transfer everything or throw.
public protocol StorageFile: AnyObject, Sendable {
    var identity: FileSystemIdentity { get }
    func size() throws(StoreError) -> UInt64
    /// Who may do what with it; nil where the file system has no permissions.
    func attributes() throws(StoreError) -> FileAttributes?
    /// Gives it these permissions and, where the system allows, this owner and group. Where it does not, the file is not for the members of
    /// another group because it was for those of this one.
    func setAttributes(_ attributes: FileAttributes) throws(StoreError)
    /// Reads up to `buffer.count` bytes; fewer only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError)
    /// Writes bytes and makes these durable, with what it takes to find them; others may stay as they are.
    /// - Throws: `noSpace` as `write` does. After any other error it is not known whether anything was written, and what of it is durable.
    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError)
    /// Whether `write` may be called from another thread while the one that has the lock reads.
    var writesBehind: Bool { get }
    func truncate(to size: UInt64) throws(StoreError)
    /// Makes everything written durable.
    func sync() throws(StoreError)
    /// Waits for the exclusive lock of the whole file.
    /// - Throws: `locked` once `timeout` has passed.
    func lock(timeout: Duration) throws(StoreError)
    func unlock()
    /// Memory that shows `length` bytes of the file from `offset` on, later writes included. It may reach past the end;
    /// only bytes before the end are read. The file unmaps it when it is released.
    /// - Throws: where it cannot map, with ENODEV, ENOSYS, EOPNOTSUPP or ENOMEM as its number: the file is then read.
    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer
    /// Says that bytes will be read soon, so that the file may bring them into memory while the caller does something else, and these alone:
    /// where a mapping is touched and not in memory, a system may bring in a good deal more, and have the caller wait for it.
    func willRead(_ range: Range<UInt64>)
    /// Whether the page around a mapped byte is in memory, so that reading it would not wait for a disk; false where that is not known. It may be
    /// out of date when it is used.
    /// - Parameter address: in memory that `map` gave.
    func isInMemory(_ address: UnsafeRawPointer) -> Bool
    /// Says that bytes which were written will be synced soon, and not changed before, so that the file may begin with that while the caller
    /// makes more of them. Nothing is durable for it.
    func willSync(_ range: Range<UInt64>)
    /// Says that the bytes of `range`, all of them written before, will be overwritten many times before anybody waits for
    /// them to be durable, so that the file may do so in a cheaper way.
    ///
    /// Called, like `write`, under the lock; after each `lock` comes a `size` before the first `write`.
    func expectOverwriting(_ range: Range<UInt64>)
    /// The processes that have the file open or mapped, this process among them; nil where the system does not tell.
    /// - Parameter isCounted: whether this opening counts.
    func holders(thisOpening isCounted: Bool) -> [FileHolder]?
    /// The other processes that have the file open for writing; nil where the system does not tell.
    func otherWriters() -> [FileHolder]?
    /// Where the file is now; nil where it has no name any more, or the system does not tell. It may be out of date when it is used.
    func currentPath() -> String?
}

extension StorageFile {
    public func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) { try writeAndSync(bytes, at: offset) }

    /// Takes over the permissions, owner and group of the file whose place this one is about to take, which may have changed since it was made.
    func liken(to other: any StorageFile) throws(StoreError) {
        guard let attributes = try other.attributes(), try self.attributes() != attributes else { return }
        try setAttributes(attributes)
    }

    func writeAndSync(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
        try write(bytes, at: offset)
        do throws(StoreError) {
            try sync()
        } catch {
            throw error.asUncertain
        }
    }

    /// For file systems without permissions.
    public func attributes() throws(StoreError) -> FileAttributes? { nil }
    public func setAttributes(_ attributes: FileAttributes) throws(StoreError) {}
    public var writesBehind: Bool { false }
    public func willRead(_ range: Range<UInt64>) {}
    public func isInMemory(_ address: UnsafeRawPointer) -> Bool { false }
    public func willSync(_ range: Range<UInt64>) {}
    public func expectOverwriting(_ range: Range<UInt64>) {}
    /// For files that no other process can have.
    public func holders(thisOpening isCounted: Bool) -> [FileHolder]? { nil }
    public func otherWriters() -> [FileHolder]? { nil }
    public func currentPath() -> String? { nil }
}
