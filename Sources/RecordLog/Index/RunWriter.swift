/// Writes a sorted stream of entries as an index run.
struct RunWriter {
    private let sink: any FrameSink
    private var block: [UInt8] = []
    private var intervals: [UInt32] = []
    private var inInterval = 0
    private var previous: [UInt8] = []
    private var separators: [UInt8] = []
    private var blocks: [(pointer: FramePointer, keyOffset: Int, keyLength: Int)] = []
    private var separator: [UInt8] = []
    private var entryCount: UInt64 = 0
    private var byteCount: UInt64 = 0

    /// A block is closed once it has this many bytes.
    static let blockTarget = 4096 - FrameHeader.Layout.size - 64

    init(sink: any FrameSink) {
        self.sink = sink
    }

    /// Adds an entry greater than the one before.
    mutating func append(_ key: UnsafeRawBufferPointer, isTombstone: Bool) throws(StoreError) {
        if block.isEmpty {
            // The shortest start of the key that still sorts after the block before: it tells the blocks apart as well.
            var length = 0
            while length < key.count, length < previous.count, key[length] == previous[length] { length += 1 }
            separator.removeAll(keepingCapacity: true)
            if !blocks.isEmpty { separator.append(contentsOf: key.prefix(length + 1)) }
        }
        var shared = 0
        if inInterval == 0 {
            intervals.append(UInt32(block.count))
        } else {
            let most = min(previous.count, key.count)
            while shared < most, previous[shared] == key[shared] { shared += 1 }
        }
        appendVarint(shared)
        appendVarint((key.count - shared) << 1 | (isTombstone ? 1 : 0))
        block.append(contentsOf: key[shared...])
        previous.removeAll(keepingCapacity: true)
        previous.append(contentsOf: key)
        inInterval = (inInterval + 1) % DiskRun.BlockLayout.entriesPerInterval
        entryCount += 1
        if block.count >= Self.blockTarget { try closeBlock() }
    }

    private mutating func appendVarint(_ value: Int) {
        var value = value
        while value >= 0x80 {
            block.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        block.append(UInt8(value))
    }

    private mutating func closeBlock() throws(StoreError) {
        guard !block.isEmpty else { return }
        for interval in intervals { append(interval, to: &block) }
        append(UInt32(intervals.count), to: &block)
        let pointer = try emit(.indexBlock, block)
        blocks.append((pointer, separators.count, separator.count))
        separators.append(contentsOf: separator)
        byteCount += UInt64(block.count)
        block.removeAll(keepingCapacity: true)
        intervals.removeAll(keepingCapacity: true)
        inInterval = 0
    }

    private func append(_ value: UInt32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private func emit(_ kind: FrameKind, _ bytes: [UInt8]) throws(StoreError) -> FramePointer {
        let result: Result<FramePointer, StoreError> = bytes.withUnsafeBytes { bytes in
            do throws(StoreError) { return .success(try sink.append(kind: kind, payload: bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// - Returns: nil where no entry was added.
    mutating func finish() throws(StoreError) -> Manifest.Run? {
        try closeBlock()
        guard !blocks.isEmpty else { return nil }
        var writer = ByteWriter()
        writer.append(UInt32(blocks.count))
        writer.append(UInt32(0))
        let keysStart = DiskRun.RootLayout.blocks + blocks.count * DiskRun.RootLayout.blockSize
        for block in blocks {
            writer.append(block.pointer)
            writer.append(UInt32(keysStart + block.keyOffset))
            writer.append(UInt32(block.keyLength))
        }
        writer.bytes.append(contentsOf: separators)
        let root = try emit(.indexRoot, writer.bytes)
        return Manifest.Run(root: root, entryCount: entryCount, byteCount: byteCount + UInt64(writer.bytes.count))
    }
}
