/// What a log has behind its published end, as whoever does not hold the lock may look at it.
struct UnpublishedTail {
    /// Behind the last whole commit: what is before that nobody cuts off.
    let end: UInt64
    /// See `CommitScan.prepared`.
    let prepared: PreparedCommit?

    /// - Parameters:
    ///   - sequence: of the commit that ends before `position`; as `CommitScan` takes it.
    ///   - size: the file's, as it was seen.
    /// - Complexity: O(size − position), read and not kept.
    init(
        _ file: LogFile, behind sequence: UInt64, checksum: UInt64, at position: UInt64, superblock: Superblock, size: UInt64
    ) throws(StoreError) {
        var walk = CommitScan(
            log: .tail(TailReader(file)), behind: sequence, checksum: checksum, at: position, limit: size,
            publishedEnd: superblock.end, wholeEnd: superblock.durableEnd)
        while try walk.next() != nil {}
        end = walk.end
        prepared = walk.prepared
    }
}
