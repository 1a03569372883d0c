/// Writes a large piece of the log to the file while its appender builds the next piece. The system takes as long to copy a piece as the
/// appender took to build it.
///
/// A separate thread writes the piece if the file allows writes from other threads (`StorageFile.writesBehind`). Otherwise `finish`
/// writes it: late, as with a thread, and in an order that a simulation can repeat.
///
/// Invariants:
/// 1. The memory does not change until `finish` has returned.
/// 2. The owner calls `finish` before it writes anything else to the file, syncs it, cuts it, releases its lock, or reads bytes of
///    the piece from it.
final class BackgroundWrite: @unchecked Sendable {
    // Unchecked: only the thread writes the failure, and it is read only after `end` has finished.
    let offset: UInt64
    let count: Int
    private let storage: any StorageFile
    private let memory: UnsafeRawPointer
    private let isSyncedSoon: Bool
    /// Only the owner writes and reads it.
    private var hasThread = false
    private var failure: StoreError?
    private let end = Completion()

    /// Starts the write.
    /// - Parameter isSyncedSoon: whether the disk may start on the piece as soon as the file has it.
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

    /// Waits for the write, or does it.
    /// - Throws: the error of the write.
    func finish() throws(StoreError) {
        if !hasThread { write() }
        end.wait()
        if let failure { throw failure }
    }
}
