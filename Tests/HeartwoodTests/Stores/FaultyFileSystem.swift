import HeartwoodTestSupport
import RecordLog
import Synchronization

/// Files in memory, with one kind of call that fails on request.
final class FaultyFileSystem: ForwardingFileSystem, @unchecked Sendable {
    enum Call: Equatable {
        case create, rename, syncDirectory
    }

    private let failing = Mutex<Call?>(nil)
    var failingCall: Call? {
        get { failing.withLock { $0 } }
        set { failing.withLock { $0 = newValue } }
    }

    init() { super.init(MemoryFileSystem()) }

    private func check(_ call: Call, _ path: String) throws(StoreError) {
        if failingCall == call { throw StoreError(.io, path: path, "simulated", remedy: "None.") }
    }

    override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        if mode.creates { try check(.create, path) }
        return try super.open(path, mode)
    }

    override func rename(_ old: String, to new: String) throws(StoreError) {
        try check(.rename, new)
        try super.rename(old, to: new)
    }

    override func syncDirectory(of path: String) throws(StoreError) {
        try check(.syncDirectory, path)
        try super.syncDirectory(of: path)
    }
}
