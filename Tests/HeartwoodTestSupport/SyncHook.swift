import RecordLog
import Synchronization

/// A file system in which each sync of a file that is opened after `arm` is followed by a call of a function. A background checkpoint makes its
/// batches durable through such a handle, so the function's commits are between two batches, independent of the threads.
public final class SyncHook: ForwardingFileSystem, @unchecked Sendable {
    private let hook = Mutex<(@Sendable () -> Void)?>(nil)

    public override init(_ system: any FileSystem) { super.init(system) }

    public func arm(_ function: @escaping @Sendable () -> Void) { hook.withLock { $0 = function } }

    public func disarm() { hook.withLock { $0 = nil } }

    public override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        let file = try super.open(path, mode)
        return hook.withLock { $0 }.map { File(file, $0) } ?? file
    }

    private final class File: ForwardingFile, @unchecked Sendable {
        private let hook: @Sendable () -> Void

        init(_ file: any StorageFile, _ hook: @escaping @Sendable () -> Void) {
            self.hook = hook
            super.init(file)
        }

        override func sync() throws(StoreError) {
            try super.sync()
            hook()
        }
    }
}
