/// All requests of the engine to the system. This is the only seam: only implementations of these two protocols make system calls.
public protocol FileSystem: Sendable {
    /// Opens a file.
    /// - Parameter mode: a mode that creates the file fails if it exists.
    /// - Throws: `isDirectory`; `notAStore` for a pipe, a socket or a device, without waiting for it.
    func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile
    /// The identity of the file at `path`; nil if there is none.
    func identity(of path: String) throws(StoreError) -> FileSystemIdentity?
    /// The identity of the directory entry itself: of a symbolic link, not of its target. nil if the name is free.
    func identity(ofName path: String) throws(StoreError) -> FileSystemIdentity?
    func rename(_ old: String, to new: String) throws(StoreError)
    func remove(_ path: String) throws(StoreError)
    /// Makes renames and creations in the directory of `path` durable.
    func syncDirectory(of path: String) throws(StoreError)
    /// Acquires now everything that `sync` needs, so that a rename is not done if it cannot be made durable.
    /// - Parameter path: an existing file that stays in the same file system.
    func openDirectory(of path: String) throws(StoreError) -> any OpenDirectory
    /// The path with symbolic links followed, so that a rename replaces the file and not a link to it.
    func resolved(_ path: String) throws(StoreError) -> String
    /// The bytes free for files beside `path`; nil if the system does not report them.
    func freeSpace(at path: String) -> UInt64?
    /// Whether files outlive the process.
    var outlivesProcess: Bool { get }
    /// Microseconds since 1970-01-01 UTC.
    func now() -> Int64
    /// Random bits, for identities.
    func random() -> UInt64
}

/// A directory, ready for a sync. The last reference closes it.
public protocol OpenDirectory: AnyObject, Sendable {
    /// Makes renames, creations and removals in the directory durable.
    func sync() throws(StoreError)
}

extension FileSystem {
    public var outlivesProcess: Bool { true }
    /// For file systems that need no resources for it.
    public func openDirectory(of path: String) throws(StoreError) -> any OpenDirectory { DirectoryByPath(fileSystem: self, path: path) }
    /// For file systems without links.
    public func resolved(_ path: String) throws(StoreError) -> String { path }
    /// For file systems without links.
    public func identity(ofName path: String) throws(StoreError) -> FileSystemIdentity? { try identity(of: path) }

    /// Creates a file beside another file, or for its replacement. At no moment can it be read by users who cannot read the other one.
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

    /// Creates a file that belongs to its maker and gives others the rights that they have in another one. At no moment has it more.
    /// - Parameter model: the other file's attributes; nil for those of any new file.
    func create(_ path: String, permittedAs model: FileAttributes?) throws(StoreError) -> any StorageFile {
        guard let model else { return try open(path, .create) }
        let file = try open(path, .createPrivate)
        guard let own = try file.attributes() else { return file }
        do throws(StoreError) {
            try file.setAttributes(FileAttributes(permissions: model.permissions(for: own), owner: own.owner, group: own.group))
        } catch {
            try? remove(path)
            throw error
        }
        return file
    }

    /// Gives a finished file the permissions, owner and group of the file that it replaces.
    func copyAttributes(to path: String, from other: any StorageFile) throws(StoreError) {
        guard try other.attributes() != nil else { return }
        try open(path, .readWriteUnlinked).copyAttributes(from: other)
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
    /// Like `readWrite`, but a symbolic link is not followed: opening one throws `exists`.
    case readWriteUnlinked
    /// Like `create`, but only the owner may read or write the file.
    case createPrivate

    /// Whether the mode creates the file.
    public var creates: Bool { self == .create || self == .createPrivate }
}

/// The permissions and owners of a file.
public struct FileAttributes: Sendable, Equatable {
    /// The POSIX mode bits.
    public var permissions: UInt32
    public var owner: UInt32
    public var group: UInt32
    /// An access control list in the system's encoding; nil for none. If there is one, the group's permissions are its mask.
    public var accessList: [UInt8]?

    public init(permissions: UInt32, owner: UInt32, group: UInt32, accessList: [UInt8]? = nil) {
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.accessList = accessList
    }

    /// The permissions for a file with an owner and group of its own. A group's rights that a list may widen or narrow are not taken over.
    func permissions(for own: FileAttributes) -> UInt32 {
        narrowed(keepsOwner: own.owner == owner, keepsGroup: own.group == group && accessList == nil)
    }

    /// The permissions for a file with another owner or group. A changed group keeps at most the rights of others; set-ID bits are cleared.
    func narrowed(keepsOwner: Bool, keepsGroup: Bool) -> UInt32 {
        var narrowed = permissions
        if !keepsGroup { narrowed &= ~0o70 | (permissions & 0o7) << 3 }
        if !keepsOwner || !keepsGroup { narrowed &= 0o1777 }
        return narrowed
    }
}

/// Identifies a file independently of its path.
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
    /// The permissions and owners; nil if the file system has no permissions.
    func attributes() throws(StoreError) -> FileAttributes?
    /// Sets the permissions, and the owner and group if the system allows. If it refuses the group, the file's actual group gets no
    /// rights that were meant for the other group.
    func setAttributes(_ attributes: FileAttributes) throws(StoreError)
    /// Reads up to `buffer.count` bytes; fewer only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError)
    /// Writes bytes and makes them durable, with the metadata needed to find them. Other bytes may remain volatile.
    /// - Throws: `noSpace` as `write` does. After any other error, some of the bytes may be written or durable.
    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError)
    /// Whether one thread may call `write` while the thread that holds the lock reads.
    var writesBehind: Bool { get }
    func truncate(to size: UInt64) throws(StoreError)
    /// Makes everything written durable.
    func sync() throws(StoreError)
    /// Waits for the exclusive lock of the whole file.
    /// - Throws: `locked` once `timeout` has passed.
    func lock(timeout: Duration) throws(StoreError)
    func unlock()
    /// Memory that shows `length` bytes of the file from `offset` on, and later writes. It may extend past the file's end; the engine
    /// reads only bytes before the end. The file unmaps it at its release.
    /// - Throws: an error with the number ENODEV, ENOSYS, EOPNOTSUPP or ENOMEM if it cannot map: the engine then reads the file.
    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer
    /// Announces a read, so that the file may load these bytes, and only these, while the caller continues. A touch of an unloaded page of a
    /// mapping may load many more bytes and makes the caller wait for them.
    func willRead(_ range: Range<UInt64>)
    /// Whether the page of a mapped byte is in memory, so that reading it does not wait for a disk; false if that is unknown. The answer
    /// may be out of date when it is used.
    /// - Parameter address: in memory that `map` returned.
    func isInMemory(_ address: UnsafeRawPointer) -> Bool
    /// Announces a sync of written bytes that do not change before it, so that the file may start on them while the caller makes more. It
    /// makes nothing durable.
    func willSync(_ range: Range<UInt64>)
    /// Announces that the bytes of `range`, all of them written before, are overwritten many times before they must be durable, so
    /// that the file may overwrite them in a cheaper way.
    ///
    /// Called, like `write`, under the lock; after each `lock` comes a `size` before the first `write`.
    func expectOverwriting(_ range: Range<UInt64>)
    /// The processes that have the file open or mapped, this process included; nil if the system does not report them.
    /// - Parameter isCounted: whether this descriptor counts.
    func holders(thisOpening isCounted: Bool) -> [FileHolder]?
    /// The other processes that have the file open for writing; nil if the system does not report them.
    func otherWriters() -> [FileHolder]?
    /// The file's current path; nil if it has no name any more or the system does not report it. It may be out of date when it is used.
    func currentPath() -> String?
}

extension StorageFile {
    public func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) { try writeAndSync(bytes, at: offset) }

    /// Copies the current permissions, owner and group of the file that this one is about to replace.
    func copyAttributes(from other: any StorageFile) throws(StoreError) {
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
    /// For files that only this process can open.
    public func holders(thisOpening isCounted: Bool) -> [FileHolder]? { nil }
    public func otherWriters() -> [FileHolder]? { nil }
    public func currentPath() -> String? { nil }
}
