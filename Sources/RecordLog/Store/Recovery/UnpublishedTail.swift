/// The log behind its published end, as a process without the lock sees it.
struct UnpublishedTail {
    /// The end of the last whole commit. No writer cuts off the bytes before it.
    let end: UInt64
    /// See `CommitScan.prepared`.
    let prepared: PreparedCommit?

    /// - Parameters:
    ///   - sequence: the number of the commit that ends before `position`; as in `CommitScan`.
    ///   - size: the file's size when the caller read it.
    /// - Complexity: O(size − position). The bytes are read and not kept.
    init(
        _ file: LogFile, behind sequence: UInt64, checksum: UInt64, at position: UInt64, superblock: Superblock, size: UInt64
    ) throws(StoreError) {
        var scan = CommitScan(
            log: .tail(TailReader(file)), behind: sequence, checksum: checksum, at: position, limit: size,
            publishedEnd: superblock.end, wholeEnd: superblock.durableEnd)
        while try scan.next() != nil {}
        end = scan.end
        prepared = scan.prepared
    }
}
