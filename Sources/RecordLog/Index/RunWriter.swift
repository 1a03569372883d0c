/// Writes a sorted stream of entries as an index run.
struct RunWriter {
    private let sink: any FrameSink
    private let block = IndexBlockEncoder()
    /// The last entry of the block before.
    private var previous: [UInt8] = []
    private var blocks: [IndexRoot.Block] = []
    private var tickets: [FrameTicket] = []
    private var separator: [UInt8] = []
    private var entryCount: UInt64 = 0
    private var byteCount: UInt64 = 0
    /// How many bytes of the root there may be for each entry.
    private let rootBytesPerEntry: Double

    /// A block is closed once it has about this many bytes, and an entry comes that is not like its last one for long.
    static let blockTarget = 4096 - FrameHeader.Layout.size - 64
    private static let shortSeparator = 256
    private static let entriesMax = 1 << 16

    /// - Parameter entryCount: at least as many as will be added.
    init(sink: any FrameSink, entryCount: UInt64) {
        self.sink = sink
        // Half of it, so that it has room for those that end sooner since they are large.
        rootBytesPerEntry = Double(sink.payloadMax / 2) / Double(max(entryCount, 1))
    }

    /// Adds an entry greater than the one before.
    mutating func append(_ entry: UnsafeRawBufferPointer, isTombstone: Bool) throws(StoreError) {
        if block.estimate >= Self.blockTarget {
            let shared = previous.withUnsafeBytes { KeyBytes.shared($0, entry) }
            if isFull(before: shared) {
                try closeBlock()
                // The shortest start of the entry that still sorts after the block before: it tells the blocks apart as well.
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

    /// Long separators stand between large blocks alone, of 64 entries or so that are alike: the root, which is one frame, has all of them.
    /// Where there are many blocks for one root they are larger, so that it has room for all of them.
    /// A block stays smaller than five keys of the size that is allowed, and so than a frame.
    /// - Parameter shared: the bytes that the next entry begins with like the last one.
    private func isFull(before shared: Int) -> Bool {
        guard shared < Self.shortSeparator || block.estimate >= 4 * shared else { return isLarge }
        return Double(IndexRoot.Layout.perBlock + shared + 1) <= Double(block.entryCount) * rootBytesPerEntry || isLarge
    }

    /// Whether the block is half as large as a frame, whatever the numbers in its entries take.
    private var isLarge: Bool {
        block.estimate + block.entryCount * Self.numbersMax >= sink.payloadMax / 2 || block.entryCount >= Self.entriesMax
    }

    /// What the numbers of an entry may take beyond what is estimated.
    private static let numbersMax = 12

    /// Adds a block of another run as it is: its entries name rows, not places.
    /// - Parameter separator: what comes after every entry so far and not after the block's first one.
    mutating func append(_ other: IndexBlock, separator: [UInt8]) throws(StoreError) {
        precondition(block.isEmpty, "a run is written block by block or entry by entry")
        tickets.append(try sink.append(.indexBlock, UnsafeRawBufferPointer(start: other.bytes, count: other.count)))
        blocks.append(IndexRoot.Block(pointer: .none, separator: separator, entryCount: other.entryCount))
        entryCount += UInt64(other.entryCount)
        byteCount += UInt64(other.count)
    }

    /// Gives the last entries to the sink.
    private mutating func closeBlock() throws(StoreError) {
        guard !block.isEmpty else { return }
        let count = block.entryCount
        let (ticket, size) = try block.emit(to: sink)
        tickets.append(ticket)
        blocks.append(IndexRoot.Block(pointer: .none, separator: separator, entryCount: count))
        byteCount += UInt64(size)
    }

    /// Ends the run.
    /// - Returns: what its root is made of; nil where no entry was added.
    mutating func finish() throws(StoreError) -> RunBlocks? {
        try closeBlock()
        guard !blocks.isEmpty else { return nil }
        return RunBlocks(blocks: blocks, tickets: tickets, entryCount: entryCount, byteCount: byteCount)
    }
}
