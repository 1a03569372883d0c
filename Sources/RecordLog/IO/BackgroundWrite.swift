/// A large piece of the log on its way to the file, while its appender lays down the next one: copying it there takes the system as long
/// as making it took.
///
/// A thread of the system's writes it where the file may be written from another thread (`StorageFile.writesBehind`). Elsewhere it is
/// written when it is waited for: later than it was handed over, as with a thread, and in an order that a simulation can repeat.
///
/// Invariants:
/// 1. The memory stays as it is until `finish` has returned.
/// 2. `finish` is called before anything else is written to the file, before it is synced or cut, before its lock is let go, and before
///    bytes of the piece are read from it.
final class BackgroundWrite: @unchecked Sendable {
    // Unchecked: the failure is written by the thread alone, and read once `end` is finished.
    let offset: UInt64
    let count: Int
    private let storage: any StorageFile
    private let memory: UnsafeRawPointer
    private let isSyncedSoon: Bool
    /// Written and read by the owner alone.
    private var hasThread = false
    private var failure: StoreError?
    private let end = Completion()

    /// Begins to write.
    /// - Parameter isSyncedSoon: whether the disk may begin with the piece as soon as the file has it.
    init(_ storage: any StorageFile, _ memory: UnsafeRawPointer, _ count: Int, at offset: UInt64, isSyncedSoon: Bool) {
        self.storage = storage
        self.memory = memory
        self.isSyncedSoon = isSyncedSoon
        self.count = count
        self.offset = offset
        hasThread = storage.writesBehind && SystemThread.start { self.write() }
    }

    private func write() {
        do throws(StoreError) {
            try storage.write(UnsafeRawBufferPointer(start: memory, count: count), at: offset)
            if isSyncedSoon { storage.willSync(offset..<offset + UInt64(count)) }
        } catch {
            failure = error
        }
        end.finish()
    }

    /// - Throws: what the write threw.
    func finish() throws(StoreError) {
        if !hasThread { write() }
        end.wait()
        if let failure { throw failure }
    }
}
