import RecordLog
import Synchronization

/// The files of another system, where each sync of a file that is opened after `arm` goes on to a function: such openings are those
/// through which a checkpoint in the background makes its batches durable, so that what the function commits lies between
/// two batches, whatever the threads do.
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
