import RecordLog
import Synchronization
import TestSupport

/// The system's files, where each sync of a file that is opened after `arm` goes on to a function: such openings are those
/// through which a checkpoint in the background makes its batches durable, so that what the function commits lies between
/// two batches, whatever the threads do.
final class SyncHook: ForwardingFileSystem, @unchecked Sendable {
    private let hook = Mutex<(@Sendable () -> Void)?>(nil)

    init() { super.init(POSIXFileSystem()) }

    func arm(_ function: @escaping @Sendable () -> Void) { hook.withLock { $0 = function } }

    override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
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
