import RecordLog

/// A file system that forwards to another one, except for a subclass's overrides.
open class ForwardingFileSystem: FileSystem, @unchecked Sendable {
    // Unchecked: it has subclasses, which declare the same.
    private let system: any FileSystem

    public init(_ system: any FileSystem) { self.system = system }

    open func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile { try system.open(path, mode) }
    public func identity(of path: String) throws(StoreError) -> FileSystemIdentity? { try system.identity(of: path) }
    public func identity(ofName path: String) throws(StoreError) -> FileSystemIdentity? { try system.identity(ofName: path) }
    open func rename(_ old: String, to new: String) throws(StoreError) { try system.rename(old, to: new) }
    open func remove(_ path: String) throws(StoreError) { try system.remove(path) }
    open func syncDirectory(of path: String) throws(StoreError) { try system.syncDirectory(of: path) }
    open func openDirectory(of path: String) throws(StoreError) -> any OpenDirectory { Directory(self, path) }
    public func resolved(_ path: String) throws(StoreError) -> String { try system.resolved(path) }
    public func freeSpace(at path: String) -> UInt64? { system.freeSpace(at: path) }
    open func now() -> Int64 { system.now() }
    public func random() -> UInt64 { system.random() }

    private final class Directory: OpenDirectory {
        private let system: ForwardingFileSystem
        private let path: String

        init(_ system: ForwardingFileSystem, _ path: String) {
            self.system = system
            self.path = path
        }

        func sync() throws(StoreError) { try system.syncDirectory(of: path) }
    }
}

/// A file that forwards to another one. It reports nothing that a system need not report.
open class ForwardingFile: StorageFile, @unchecked Sendable {
    // Unchecked: as above.
    private let file: any StorageFile

    public init(_ file: any StorageFile) { self.file = file }

    open var writesBehind: Bool { false }
    public var identity: FileSystemIdentity { file.identity }
    public func size() throws(StoreError) -> UInt64 { try file.size() }
    public func attributes() throws(StoreError) -> FileAttributes? { try file.attributes() }
    public func setAttributes(_ attributes: FileAttributes) throws(StoreError) { try file.setAttributes(attributes) }
    open func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
        try file.read(into: buffer, at: offset)
    }
    open func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) { try file.write(bytes, at: offset) }
    public func truncate(to size: UInt64) throws(StoreError) { try file.truncate(to: size) }
    open func sync() throws(StoreError) { try file.sync() }
    public func lock(timeout: Duration) throws(StoreError) { try file.lock(timeout: timeout) }
    public func unlock() { file.unlock() }
    open func willRead(_ range: Range<UInt64>) { file.willRead(range) }
    open func isInMemory(_ address: UnsafeRawPointer) -> Bool { file.isInMemory(address) }
    open func willSync(_ range: Range<UInt64>) { file.willSync(range) }
    open func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer { try file.map(offset: offset, length: length) }
}
