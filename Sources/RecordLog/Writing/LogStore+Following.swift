import Synchronization

extension LogStore {
    /// Learns what other handles and processes have committed, where that can be done at once: a look at the header in memory
    /// where nothing is new, and nothing while this handle is writing, which learns it by itself.
    /// - Returns: the newest commit that this handle knows.
    /// - Throws: `corrupt`; the handle keeps what it knew.
    /// - Complexity: O(1) and, in a mapped file, no call of the system where nothing is new, else O(new log).
    @discardableResult
    public func follow() throws(StoreError) -> Snapshot {
        var failure: StoreError?
        _ = writeLock.withLockIfAvailable { _ in
            guard !writer.isClosed, writer.poison == nil else { return }
            do throws(StoreError) {
                let mark = try writer.file.withBytes(at: 0, count: Int(FileFormat.dataStart)) { HeaderMark($0) }
                guard mark != writer.mark || writer.slot.isUnresolved && writer.base == nil else { return }
                try catchUp(isLocked: false)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return snapshot()
    }
}
