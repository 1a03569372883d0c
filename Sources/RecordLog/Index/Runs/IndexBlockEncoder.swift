/// Gathers the entries of one block and encodes them once all are known.
///
/// Invariants:
/// 1. `keys` holds the entries' keys, without row numbers, one after another, and ends at `keysEnd`.
/// 2. An entry's `shared` is the length of the prefix that its key shares with the previous key; 0 for the block's first entry.
final class IndexBlockEncoder {
    private struct Entry {
        var keyEnd: Int
        var shared: Int
        var row: UInt64
        var isTombstone: Bool
    }

    private var keys: UnsafeMutableRawBufferPointer
    private var keysEnd = 0
    private var entries: UnsafeMutableBufferPointer<Entry>
    private(set) var entryCount = 0
    private var encoded: UnsafeMutableRawBufferPointer
    private var encodedCount = 0
    /// The approximate size of the block in bytes.
    private(set) var estimate = 0
    private var lastStart = 0
    private var shortestKey = Int.max
    private let isPacked: Bool
    private let entriesPerInterval: Int

    /// - Parameter isPacked: whether the blocks are packed, as those of indexes of terms are.
    init(isPacked: Bool) {
        self.isPacked = isPacked
        entriesPerInterval = IndexBlock.Layout.entriesPerInterval(isPacked: isPacked)
        keys = .allocate(byteCount: 16_384, alignment: 8)
        entries = .allocate(capacity: 512)
        encoded = .allocate(byteCount: 16_384, alignment: 8)
    }

    deinit {
        keys.deallocate()
        entries.deallocate()
        encoded.deallocate()
    }

    var isEmpty: Bool { entryCount == 0 }

    func append(_ entry: UnsafeRawBufferPointer, isTombstone: Bool) {
        let keyCount = max(0, entry.count - KeyBuilder.rowSuffixSize), start = keysEnd
        if start + keyCount > keys.count { growKeys(keyCount) }
        if entryCount == entries.count { growEntries() }
        if let bytes = entry.baseAddress, let keys = keys.baseAddress { (keys + start).copyMemory(from: bytes, byteCount: keyCount) }
        keysEnd = start + keyCount
        let shared = entryCount == 0 ? 0 : shared(lastStart, start, start, keysEnd)
        entries[entryCount] = Entry(keyEnd: keysEnd, shared: shared, row: IndexEntry.row(of: entry), isTombstone: isTombstone)
        let isFirst = entryCount % entriesPerInterval == 0
        if isFirst {
            estimate += keyCount + 5 + IndexBlock.Layout.intervalSize
        } else {
            estimate += step(at: entryCount, start).map { Self.varintSize($0) } ?? keyCount - shared + 5
        }
        entryCount += 1
        shortestKey = min(shortestKey, keyCount)
        lastStart = start
    }

    /// The step from the row before, where an entry of a packed block has the key of the one before.
    /// - Parameter start: where the key begins. The entry is not the first of its interval.
    @inline(__always)
    private func step(at index: Int, _ start: Int) -> UInt64? {
        guard isPacked else { return nil }
        let entry = entries[index], before = entries[index - 1]
        let count = entry.keyEnd - start, countBefore = start - (index == 1 ? 0 : entries[index - 2].keyEnd)
        guard entry.shared == count, count == countBefore, entry.row > before.row else { return nil }
        return (entry.row - before.row) << 2
    }

    private static func varintSize(_ value: UInt64) -> Int { max(1, (70 - value.leadingZeroBitCount) / 7) }

    @inline(never)
    private func growKeys(_ more: Int) {
        let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: max(keys.count * 2, keysEnd + more), alignment: 8)
        grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: keys[..<keysEnd]))
        keys.deallocate()
        keys = grown
    }

    @inline(never)
    private func growEntries() {
        let grown = UnsafeMutableBufferPointer<Entry>.allocate(capacity: entries.count * 2)
        _ = grown.initialize(from: entries)
        entries.deallocate()
        entries = grown
    }

    /// The length of the common prefix of the keys at `a..<aEnd` and `b..<bEnd`.
    @inline(__always)
    private func shared(_ a: Int, _ aEnd: Int, _ b: Int, _ bEnd: Int) -> Int {
        KeyBytes.shared(UnsafeRawBufferPointer(rebasing: keys[a..<aEnd]), UnsafeRawBufferPointer(rebasing: keys[b..<bEnd]))
    }

    /// Writes the block, and starts the next.
    /// - Returns: the block's ticket and its size.
    func emit(to sink: any FrameSink) throws(StoreError) -> (FrameTicket, Int) {
        encode()
        let ticket = try sink.append(.indexBlock, UnsafeRawBufferPointer(rebasing: encoded[..<encodedCount]))
        entryCount = 0
        keysEnd = 0
        estimate = 0
        shortestKey = .max
        return (ticket, encodedCount)
    }

    private func encode() {
        typealias Layout = IndexBlock.Layout
        // The keys are sorted, so all share the common prefix of the first and the last, as far as they are long enough: of keys from a
        // damaged block one may be a prefix of another.
        let common = min(shared(0, entries[0].keyEnd, lastStart, keysEnd), shortestKey, Int(UInt16.max))
        let intervals = (entryCount + entriesPerInterval - 1) / entriesPerInterval
        reserve(Layout.intervals + intervals * Layout.intervalSize + keysEnd + entryCount * 3 * Self.varintSizeMax)
        let form = UInt16(intervals) | (isPacked ? Layout.packedBit : 0)
        encoded.storeBytes(of: form.littleEndian, toByteOffset: Layout.intervalCount, as: UInt16.self)
        encoded.storeBytes(of: UInt16(common).littleEndian, toByteOffset: Layout.commonLength, as: UInt16.self)
        encoded.storeBytes(of: UInt32(entryCount).littleEndian, toByteOffset: Layout.entryCount, as: UInt32.self)
        encodedCount = Layout.intervals + intervals * Layout.intervalSize
        appendKey(0..<common)
        var start = 0
        for index in 0..<entryCount {
            let entry = entries[index]
            let from = start + common
            var shared = 0
            if index % entriesPerInterval == 0 {
                let at = Layout.intervals + index / entriesPerInterval * Layout.intervalSize
                let word = KeyBytes.word(UnsafeRawBufferPointer(rebasing: keys[from..<entry.keyEnd]))
                encoded.storeBytes(of: word.littleEndian, toByteOffset: at + Layout.intervalWord, as: UInt64.self)
                encoded.storeBytes(of: UInt32(encodedCount).littleEndian, toByteOffset: at + Layout.intervalOffset, as: UInt32.self)
            } else {
                if let step = step(at: index, start) {
                    appendVarint(step | (entry.isTombstone ? 2 : 0))
                    start = entry.keyEnd
                    continue
                }
                shared = max(0, entry.shared - common)
            }
            let rest = UInt64(entry.keyEnd - from - shared), tombstone: UInt64 = entry.isTombstone ? 1 : 0
            appendVarint(isPacked ? UInt64(shared) << 2 | tombstone << 1 | 1 : UInt64(shared))
            appendVarint(isPacked ? rest : rest << 1 | tombstone)
            appendKey(from + shared..<entry.keyEnd)
            appendVarint(entry.row)
            start = entry.keyEnd
        }
    }

    private static let varintSizeMax = 10

    private func reserve(_ size: Int) {
        guard size > encoded.count else { return }
        encoded.deallocate()
        encoded = .allocate(byteCount: size * 2, alignment: 8)
    }

    @inline(__always)
    private func appendKey(_ range: Range<Int>) {
        if let target = encoded.baseAddress, let source = keys.baseAddress {
            (target + encodedCount).copyMemory(from: source + range.lowerBound, byteCount: range.count)
        }
        encodedCount &+= range.count
    }

    @inline(__always)
    private func appendVarint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            encoded[encodedCount] = UInt8(truncatingIfNeeded: value) | 0x80
            encodedCount &+= 1
            value >>= 7
        }
        encoded[encodedCount] = UInt8(truncatingIfNeeded: value)
        encodedCount &+= 1
    }
}
