/// Gathers the entries of one block and encodes them once all are known.
struct IndexBlockEncoder {
    /// The entries' keys, one after the other, without row numbers.
    private var keys: [UInt8] = []
    private var entries: [(end: Int, row: UInt64, isTombstone: Bool)] = []
    private var encoded: [UInt8] = []
    /// About how many bytes the block will have.
    private(set) var estimate = 0
    private var lastStart = 0
    private var shortestKey = Int.max

    var isEmpty: Bool { entries.isEmpty }
    var entryCount: Int { entries.count }

    mutating func append(_ entry: UnsafeRawBufferPointer, isTombstone: Bool) {
        let keyCount = max(0, entry.count - KeyBuilder.rowSuffixSize)
        let start = keys.count
        keys.append(contentsOf: UnsafeRawBufferPointer(rebasing: entry[..<keyCount]))
        let isFirst = entries.count % IndexBlock.Layout.entriesPerInterval == 0
        let shared = isFirst ? 0 : keys.withUnsafeBytes { Self.shared($0, lastStart, start, start, $0.count) }
        entries.append((end: keys.count, row: IndexCursor.row(of: entry), isTombstone: isTombstone))
        shortestKey = min(shortestKey, keyCount)
        estimate += keyCount - shared + 5 + (isFirst ? IndexBlock.Layout.intervalSize : 0)
        lastStart = start
    }

    /// How many bytes the keys at `a..<aEnd` and `b..<bEnd` begin with alike.
    @inline(__always)
    private static func shared(_ keys: UnsafeRawBufferPointer, _ a: Int, _ aEnd: Int, _ b: Int, _ bEnd: Int) -> Int {
        let most = min(aEnd - a, bEnd - b)
        var count = 0
        while count &+ 8 <= most {
            let difference = UInt64(littleEndian: keys.loadUnaligned(fromByteOffset: a &+ count, as: UInt64.self))
                ^ UInt64(littleEndian: keys.loadUnaligned(fromByteOffset: b &+ count, as: UInt64.self))
            if difference != 0 { return count &+ difference.trailingZeroBitCount / 8 }
            count &+= 8
        }
        while count < most, keys[a &+ count] == keys[b &+ count] { count &+= 1 }
        return count
    }

    /// Writes the block, and starts the next.
    /// - Returns: the block, and its size.
    mutating func emit(to sink: any FrameSink) throws(StoreError) -> (FrameTicket, Int) {
        encode()
        let ticket = try sink.append(.indexBlock, encoded)
        keys.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        estimate = 0
        shortestKey = .max
        return (ticket, encoded.count)
    }

    private mutating func encode() {
        typealias Layout = IndexBlock.Layout
        encoded.removeAll(keepingCapacity: true)
        let firstEnd = entries[0].end, lastStart = self.lastStart, shortestKey = self.shortestKey
        let keys = self.keys
        keys.withUnsafeBytes { keys in
            // Sorted, so what the first and the last have in common all have, as far as they are long enough: of keys from
            // a damaged block one may be the start of another.
            let common = min(Self.shared(keys, 0, firstEnd, lastStart, keys.count), shortestKey, Int(UInt16.max))
            let intervals = (entries.count + Layout.entriesPerInterval - 1) / Layout.entriesPerInterval
            append(UInt16(intervals))
            append(UInt16(common))
            append(UInt32(entries.count))
            encoded.append(contentsOf: repeatElement(0, count: intervals * Layout.intervalSize))
            encoded.append(contentsOf: UnsafeRawBufferPointer(rebasing: keys[..<common]))
            var start = 0, previousStart = 0
            for (index, entry) in entries.enumerated() {
                let from = start + common
                var shared = 0
                if index % Layout.entriesPerInterval == 0 {
                    let at = Layout.intervals + index / Layout.entriesPerInterval * Layout.intervalSize
                    let word = KeyBytes.word(UnsafeRawBufferPointer(rebasing: keys[from..<entry.end]))
                    let offset = UInt32(encoded.count)
                    encoded.withUnsafeMutableBytes {
                        $0.storeBytes(of: word.littleEndian, toByteOffset: at + Layout.intervalWord, as: UInt64.self)
                        $0.storeBytes(of: offset.littleEndian, toByteOffset: at + Layout.intervalOffset, as: UInt32.self)
                    }
                } else {
                    shared = Self.shared(keys, previousStart + common, start, from, entry.end)
                }
                appendVarint(UInt64(shared))
                appendVarint(UInt64(entry.end - from - shared) << 1 | (entry.isTombstone ? 1 : 0))
                encoded.append(contentsOf: UnsafeRawBufferPointer(rebasing: keys[(from + shared)..<entry.end]))
                appendVarint(entry.row)
                previousStart = start
                start = entry.end
            }
        }
    }

    private mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { encoded.append(contentsOf: $0) }
    }

    @inline(__always)
    private mutating func appendVarint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            encoded.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        encoded.append(UInt8(value))
    }
}
