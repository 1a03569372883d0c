import RecordLog
import Synchronization

/// The system's files, where each sync of a file that is opened after `arm` goes on to a function: such openings are those
/// through which a checkpoint in the background makes its batches durable, so that what the function commits lies between
/// two batches, whatever the threads do.
final class SyncHook: FileSystem {
    private let system = POSIXFileSystem()
    private let hook = Mutex<(@Sendable () -> Void)?>(nil)

    func arm(_ function: @escaping @Sendable () -> Void) { hook.withLock { $0 = function } }

    func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        let file = try system.open(path, mode)
        guard let function = hook.withLock({ $0 }) else { return file }
        return HookedFile(file, function)
    }

    func identity(of path: String) throws(StoreError) -> FileSystemIdentity? { try system.identity(of: path) }
    func rename(_ old: String, to new: String) throws(StoreError) { try system.rename(old, to: new) }
    func remove(_ path: String) throws(StoreError) { try system.remove(path) }
    func syncDirectory(of path: String) throws(StoreError) { try system.syncDirectory(of: path) }
    func resolved(_ path: String) throws(StoreError) -> String { try system.resolved(path) }
    func copyAttributes(of path: String, to other: String) throws(StoreError) { try system.copyAttributes(of: path, to: other) }
    func freeSpace(at path: String) -> UInt64? { system.freeSpace(at: path) }
    func now() -> Int64 { system.now() }
    func random() -> UInt64 { system.random() }
}

private final class HookedFile: StorageFile {
    private let file: any StorageFile
    private let hook: @Sendable () -> Void

    init(_ file: any StorageFile, _ hook: @escaping @Sendable () -> Void) {
        self.file = file
        self.hook = hook
    }

    var identity: FileSystemIdentity { file.identity }
    func size() throws(StoreError) -> UInt64 { try file.size() }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int { try file.read(into: buffer, at: offset) }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) { try file.write(bytes, at: offset) }
    func truncate(to size: UInt64) throws(StoreError) { try file.truncate(to: size) }
    func lock(timeout: Duration) throws(StoreError) { try file.lock(timeout: timeout) }
    func unlock() { file.unlock() }
    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer { try file.map(offset: offset, length: length) }

    func sync() throws(StoreError) {
        try file.sync()
        hook()
    }
}
