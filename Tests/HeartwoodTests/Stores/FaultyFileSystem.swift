import RecordLog
import Synchronization

/// Files in memory, of which one kind of call fails when it is told so.
final class FaultyFileSystem: FileSystem {
    enum Call: Equatable {
        case create, rename, syncDirectory
    }

    private let base = MemoryFileSystem()
    private let failing = Mutex<Call?>(nil)
    var failingCall: Call? {
        get { failing.withLock { $0 } }
        set { failing.withLock { $0 = newValue } }
    }

    private func check(_ call: Call, _ path: String) throws(StoreError) {
        if failingCall == call { throw StoreError(.io, path: path, "simulated", remedy: "None.") }
    }

    func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        if mode == .create { try check(.create, path) }
        return try base.open(path, mode)
    }

    func identity(of path: String) throws(StoreError) -> FileSystemIdentity? { try base.identity(of: path) }

    func rename(_ old: String, to new: String) throws(StoreError) {
        try check(.rename, new)
        try base.rename(old, to: new)
    }

    func remove(_ path: String) throws(StoreError) { try base.remove(path) }
    func syncDirectory(of path: String) throws(StoreError) { try check(.syncDirectory, path) }
    func freeSpace(at path: String) -> UInt64? { nil }
    func now() -> Int64 { base.now() }
    func random() -> UInt64 { base.random() }
}
