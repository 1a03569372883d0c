/// Writes a sorted stream of entries as an index run.
struct RunWriter {
    private let sink: any FrameSink
    private let block: IndexBlockEncoder
    /// The last entry of the previous block.
    private var previous: [UInt8] = []
    private var blocks = IndexRootBuilder()
    private var separator: [UInt8] = []
    private var entryCount: UInt64 = 0
    private var byteCount: UInt64 = 0
    /// The bytes of the root that each entry may use.
    private let rootBytesPerEntry: Double

    /// A block ends once it has about this many bytes and the next entry shares only a short prefix with its last one.
    static let blockTarget = 4096 - FrameHeader.Layout.size - 64
    private static let shortSeparator = 256
    private static let entriesMax = 1 << 16

    /// - Parameters:
    ///   - entryCount: an upper bound of the number of entries.
    ///   - isPacked: whether the blocks are packed.
    init(sink: any FrameSink, entryCount: UInt64, isPacked: Bool) {
        self.sink = sink
        block = IndexBlockEncoder(isPacked: isPacked)
        // Half of the payload, which leaves room for blocks that end early since they are large.
        rootBytesPerEntry = Double(sink.payloadMax / 2) / Double(max(entryCount, 1))
    }

    /// Adds an entry greater than the one before.
    mutating func append(_ entry: UnsafeRawBufferPointer, isTombstone: Bool) throws(StoreError) {
        if block.estimate >= Self.blockTarget {
            let shared = previous.withUnsafeBytes { KeyBytes.shared($0, entry) }
            if isFull(before: shared) {
                try closeBlock()
                // The shortest prefix of the entry that still sorts after the previous block: it separates the blocks as well.
                separator.removeAll(keepingCapacity: true)
                separator.append(contentsOf: entry.prefix(shared + 1))
            }
        }
        block.append(entry, isTombstone: isTombstone)
        entryCount += 1
        guard block.estimate >= Self.blockTarget else { return }
        previous.removeAll(keepingCapacity: true)
        previous.append(contentsOf: entry)
    }

    /// Whether the block ends before the next entry. Long separators occur only between large blocks, of about 64 similar entries, since the
    /// root has all separators in one frame. If a root has many blocks, they are larger, so that all fit.
    /// A block stays smaller than five keys of the allowed size, and so than a frame.
    /// - Parameter shared: the length of the prefix that the next entry shares with the last one.
    private func isFull(before shared: Int) -> Bool {
        guard shared < Self.shortSeparator || block.estimate >= 4 * shared else { return isLarge }
        return Double(IndexRoot.Layout.perBlock + shared + 1) <= Double(block.entryCount) * rootBytesPerEntry || isLarge
    }

    /// Whether the block, with the largest possible numbers in its entries, has half the size of a frame.
    private var isLarge: Bool {
        block.estimate + block.entryCount * Self.numbersMax >= sink.payloadMax / 2 || block.entryCount >= Self.entriesMax
    }

    /// The most bytes that the numbers of an entry may take beyond the estimate.
    private static let numbersMax = 12

    /// Adds a block of another run unchanged: its entries contain row numbers, not addresses.
    /// - Parameter separator: sorts after every entry so far, and not after the block's first one.
    mutating func append(_ other: IndexBlock, separator: [UInt8]) throws(StoreError) {
        precondition(block.isEmpty, "a run is written block by block or entry by entry")
        let ticket = try sink.append(.indexBlock, UnsafeRawBufferPointer(start: other.bytes, count: other.count))
        blocks.append(ticket, separator: separator, entryCount: other.entryCount)
        entryCount += UInt64(other.entryCount)
        byteCount += UInt64(other.count)
    }

    /// Appends the last block to the sink.
    private mutating func closeBlock() throws(StoreError) {
        guard !block.isEmpty else { return }
        let count = block.entryCount
        let (ticket, size) = try block.emit(to: sink)
        blocks.append(ticket, separator: separator, entryCount: count)
        byteCount += UInt64(size)
    }

    /// Ends the run.
    /// - Returns: the run's blocks, for its root; nil if no entry was added.
    mutating func finish() throws(StoreError) -> RunBlocks? {
        try closeBlock()
        guard !blocks.isEmpty else { return nil }
        return RunBlocks(blocks: blocks, entryCount: entryCount, byteCount: byteCount)
    }
}
