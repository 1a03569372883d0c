/// A block of index entries in the mapped file. Spec: FORMAT.md, "Index runs".
///
/// Entries are grouped in intervals. The prefix that all keys of the block share is stored once. An interval's first key is complete except for
/// that prefix; each other key omits the bytes that it shares with the one before. A table of words at the block's start distinguishes the
/// intervals' first keys, so that a search touches few cache lines. A block of terms is *packed*: many rows have one term, and each of them
/// but the first in an interval is a step from the row before.
///
/// The bytes are untrusted: every offset and length is checked against the payload, and nil means that a check failed.
struct IndexBlock {
    enum Layout {
        static let intervalCount = 0
        static let commonLength = 2
        static let entryCount = 4
        static let intervals = 8
        static let intervalWord = 0
        static let intervalOffset = 8
        static let intervalSize = 12
        /// In the number of intervals: the block is packed.
        static let packedBit: UInt16 = 0x8000

        static func entriesPerInterval(isPacked: Bool) -> Int { isPacked ? 32 : 16 }
    }

    let bytes: UnsafeRawPointer
    let count: Int
    let intervalCount: Int
    let commonLength: Int
    let isPacked: Bool

    struct Entry {
        /// The number of key bytes shared with the previous key, after the block's common prefix.
        let shared: Int
        let restStart: Int
        let restCount: Int
        let row: UInt64
        let isTombstone: Bool
        let next: Int

        /// The key's length, after the block's common prefix.
        @inline(__always)
        var keyCount: Int { shared &+ restCount }
    }

    init?(_ payload: UnsafeRawBufferPointer) {
        guard payload.count >= Layout.intervals, let bytes = payload.baseAddress else { return nil }
        self.bytes = bytes
        count = payload.count
        let intervals = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.intervalCount, as: UInt16.self))
        intervalCount = Int(intervals & ~Layout.packedBit)
        isPacked = intervals & Layout.packedBit != 0
        commonLength = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.commonLength, as: UInt16.self)))
        guard intervalCount > 0, Layout.intervals + intervalCount * Layout.intervalSize + commonLength < count else { return nil }
    }

    @inline(__always)
    private var commonStart: Int { Layout.intervals &+ intervalCount &* Layout.intervalSize }

    /// The entry count that the block states.
    var entryCount: Int { Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.entryCount, as: UInt32.self))) }

    /// The common prefix of all keys.
    var common: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes + commonStart, count: commonLength) }

    /// The offset of the first entry.
    @inline(__always)
    var entriesStart: Int { commonStart &+ commonLength }

    @inline(__always)
    private func word(_ interval: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(
            fromByteOffset: Layout.intervals &+ interval &* Layout.intervalSize &+ Layout.intervalWord, as: UInt64.self))
    }

    /// The offset of an interval's first entry; nil if it is impossible.
    @inline(__always)
    func start(ofInterval interval: Int) -> Int? {
        let offset = Int(UInt32(littleEndian: bytes.loadUnaligned(
            fromByteOffset: Layout.intervals &+ interval &* Layout.intervalSize &+ Layout.intervalOffset, as: UInt32.self)))
        return offset >= entriesStart && offset < count ? offset : nil
    }

    @inline(__always)
    var entriesPerInterval: Int { Layout.entriesPerInterval(isPacked: isPacked) }

    /// The first entry of an interval.
    @inline(__always)
    func firstEntry(at offset: Int) -> Entry? { entry(at: offset, after: 0, IndexEntry.noRow) }

    /// The entry at an offset.
    /// - Parameters:
    ///   - keyCount: the length of the key before, after the common prefix.
    ///   - row: the row of the entry before; `IndexEntry.noRow` for an interval's first entry.
    @inline(__always)
    func entry(at offset: Int, after keyCount: Int, _ row: UInt64) -> Entry? {
        isPacked ? packedEntry(at: offset, after: keyCount, row) : plainEntry(at: offset)
    }

    @inline(never)
    private func packedEntry(at offset: Int, after keyCount: Int, _ previous: UInt64) -> Entry? {
        var at = offset
        guard let head = varint(&at) else { return nil }
        let isTombstone = head & 2 != 0
        if head & 1 == 0 {
            let row = previous &+ head >> 2
            guard previous != IndexEntry.noRow, row > previous, row <= RowReference.rowMask else { return nil }
            return Entry(shared: keyCount, restStart: at, restCount: 0, row: row, isTombstone: isTombstone, next: at)
        }
        guard head >> 2 <= UInt64(UInt32.max), let rest = varint(&at), rest <= UInt64(count &- at) else { return nil }
        let restStart = at
        at &+= Int(rest)
        guard let row = longVarint(&at), row <= RowReference.rowMask else { return nil }
        return Entry(shared: Int(head >> 2), restStart: restStart, restCount: Int(rest), row: row, isTombstone: isTombstone, next: at)
    }

    /// Reads the rows of the entries from `offset` on that are steps and no tombstones, as many as the buffer holds, and moves behind them.
    /// Stops at a step that is not well formed.
    /// - Parameter row: the row of the entry before.
    func steps(at offset: inout Int, after row: inout UInt64, into rows: UnsafeMutableBufferPointer<UInt64>) -> Int {
        var taken = 0
        while taken < rows.count, offset < count, bytes.load(fromByteOffset: offset, as: UInt8.self) & 3 == 0 {
            guard passStep(at: &offset, after: &row, below: RowReference.rowMask &+ 1) else { break }
            rows[taken] = row
            taken &+= 1
        }
        return taken
    }

    /// Moves behind the next entries of an interval that are steps to rows below `wanted`, at most `limit` of them.
    /// - Parameter row: the row of the entry before.
    /// - Returns: the number of entries.
    @inline(__always)
    func passSteps(at offset: inout Int, after row: inout UInt64, below wanted: UInt64, atMost limit: Int) -> Int {
        var passed = 0
        while passed < limit, offset < count, bytes.load(fromByteOffset: offset, as: UInt8.self) & 1 == 0 {
            guard passStep(at: &offset, after: &row, below: wanted) else { break }
            passed &+= 1
        }
        return passed
    }

    /// Moves behind a step.
    /// - Parameter row: the row of the entry before.
    /// - Returns: false if the step is not well formed, or its row is not below `limit`.
    @inline(__always)
    private func passStep(at offset: inout Int, after row: inout UInt64, below limit: UInt64) -> Bool {
        var at = offset
        guard let head = varint(&at), head >= 4, row &+ head >> 2 < limit else { return false }
        row &+= head >> 2
        offset = at
        return true
    }

    @inline(__always)
    private func plainEntry(at offset: Int) -> Entry? {
        var at = offset
        guard let shared = varint(&at), let rest = varint(&at) else { return nil }
        let restCount = Int(rest >> 1)
        guard shared <= UInt64(UInt32.max), rest <= UInt64(UInt32.max), restCount <= count &- at else { return nil }
        let restStart = at
        at &+= restCount
        guard let row = longVarint(&at), row <= RowReference.rowMask else { return nil }
        return Entry(
            shared: Int(shared), restStart: restStart, restCount: restCount, row: row, isTombstone: rest & 1 != 0, next: at)
    }

    @inline(__always)
    private func varint(_ at: inout Int) -> UInt64? {
        guard at < count else { return nil }
        let first = bytes.load(fromByteOffset: at, as: UInt8.self)
        at &+= 1
        if first < 0x80 { return UInt64(first) }
        var value = UInt64(first & 0x7F), shift: UInt64 = 7
        while at < count, shift < 56 {
            let byte = bytes.load(fromByteOffset: at, as: UInt8.self)
            at &+= 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift &+= 7
        }
        return nil
    }

    /// Like `varint`, for values that often take several bytes. Their number changes from one row number to the next, so a branch at a loop's
    /// end would often be mispredicted.
    @inline(__always)
    private func longVarint(_ at: inout Int) -> UInt64? {
        guard count &- at >= 8 else { return varint(&at) }
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        let ends = ~word & 0x8080_8080_8080_8080
        guard ends != 0 else { return nil }
        at &+= ends.trailingZeroBitCount / 8 &+ 1
        // Takes the bytes up to the first that ends, and joins their seven bits by twos, fours and eights.
        let first = ends & (0 &- ends)
        var bits = word & ((first << 1) &- 1) & 0x7F7F_7F7F_7F7F_7F7F
        bits = bits & 0x007F_007F_007F_007F | (bits & 0x7F00_7F00_7F00_7F00) >> 1
        bits = bits & 0x0000_3FFF_0000_3FFF | (bits & 0x3FFF_0000_3FFF_0000) >> 2
        return bits & 0x0FFF_FFFF | (bits & 0x0FFF_FFFF_0000_0000) >> 4
    }

    // MARK: Search

    enum Bound {
        /// The first entry that is not before the key: its interval's start, the number of the interval's entries before it, the entry
        /// itself, and the length of the prefix that it shares with the key.
        case found(intervalStart: Int, skipped: Int, Entry, matched: Int)
        /// Every entry is before the key.
        case none
        case malformed
    }

    /// Finds the first entry at or after `key`. The key may be any bytes; it may end within a row number, or with one.
    func lowerBound(_ key: UnsafeRawBufferPointer) -> Bound {
        let headCount = min(commonLength, key.count)
        if headCount > 0 {
            let order = KeyBytes.compare(
                UnsafeRawBufferPointer(start: bytes + commonStart, count: headCount),
                UnsafeRawBufferPointer(rebasing: key[..<headCount]))
            if order < 0 { return .none }
            if order > 0 { return first(matched: -1) }
        }
        if key.count < commonLength || key.count == commonLength { return first(matched: key.count) }
        let rest = UnsafeRawBufferPointer(rebasing: key[commonLength...])
        // In a packed block many intervals begin with one term, and the words tell nothing.
        let intervals = isPacked ? 0..<intervalCount : intervalsAlike(rest)
        guard let interval = interval(before: rest, among: intervals), let start = start(ofInterval: interval) else { return .malformed }
        touchLines(from: start)
        let found = search(rest, from: start)
        if interval > 0, case .found(start, 0, _, _) = found { return search(rest, before: interval) }
        return found
    }

    /// Prefetches the cache lines that a search from one entry to the next reads: most intervals have about four.
    @inline(__always)
    private func touchLines(from start: Int) {
        for line in 1...3 {
            let at = start &+ line &* CacheLine.size
            if count &- at >= MemoryLayout<UInt64>.size { CacheLine.touch(bytes + at) }
        }
    }

    /// Searches again from an earlier interval. Words contain no row numbers: if the key continues after an interval's first key, that
    /// entry may not be before it, although its word is.
    @inline(never)
    private func search(_ key: UnsafeRawBufferPointer, before interval: Int) -> Bound {
        guard let interval = self.interval(before: key, among: 0..<interval), let start = start(ofInterval: interval)
        else { return .malformed }
        return search(key, from: start)
    }

    private func first(matched: Int) -> Bound {
        guard let entry = firstEntry(at: entriesStart) else { return .malformed }
        return .found(intervalStart: entriesStart, skipped: 0, entry, matched: matched)
    }

    /// The intervals whose words equal the key's: earlier ones have a smaller word, later ones a greater.
    ///
    /// Reads all words: there are some twenty, and independent loads cost less than a binary search's branches.
    @inline(__always)
    private func intervalsAlike(_ key: UnsafeRawBufferPointer) -> Range<Int> {
        let wanted = KeyBytes.word(key)
        var low = 0, high = 0
        for interval in 0..<intervalCount {
            let known = word(interval)
            low &+= known < wanted ? 1 : 0
            high &+= known <= wanted ? 1 : 0
        }
        return Range(uncheckedBounds: (low, high))
    }

    /// The last interval whose first entry is before the key; the first interval if there is none.
    /// - Parameter intervals: all intervals before these are before the key, and all after these are not.
    @inline(__always)
    private func interval(before key: UnsafeRawBufferPointer, among intervals: Range<Int>) -> Int? {
        var low = intervals.lowerBound, high = intervals.upperBound
        // Finds the first interval that is not before the key.
        while low < high {
            let middle = (low &+ high) / 2
            guard let start = start(ofInterval: middle), let entry = firstEntry(at: start), entry.shared == 0 else { return nil }
            if compare(entry, key, from: 0).order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return max(low &- 1, 0)
    }

    /// Compares the bytes of an entry after its `shared` ones, and its row number, with the key's bytes from `matched` on.
    @inline(__always)
    private func compare(_ entry: Entry, _ key: UnsafeRawBufferPointer, from matched: Int) -> (order: Int, matched: Int) {
        let most = min(entry.restCount, key.count &- matched)
        let own = bytes + entry.restStart, other = key.baseAddress! + matched
        var same = 0
        while same < most, own.load(fromByteOffset: same, as: UInt8.self) == other.load(fromByteOffset: same, as: UInt8.self) { same &+= 1 }
        if same < most {
            return (Int(own.load(fromByteOffset: same, as: UInt8.self)) &- Int(other.load(fromByteOffset: same, as: UInt8.self)), matched &+ same)
        }
        // Either the entry's key or the key has ended.
        let at = matched &+ same
        guard at < key.count else { return (1, at) }
        var position = at
        var shift: UInt64 = 40
        while position < key.count {
            guard position &- at < KeyBuilder.rowSuffixSize else { return (-1, at) }
            let byte = Int(entry.row >> shift & 0xFF)
            let order = byte &- Int(key[position])
            if order != 0 { return (order, at) }
            shift = shift &- 8
            position &+= 1
        }
        // The key ends within the entry's row number, or with it.
        return (position &- at == KeyBuilder.rowSuffixSize ? 0 : 1, key.count)
    }

    private func search(_ key: UnsafeRawBufferPointer, from start: Int) -> Bound {
        var at = start, intervalStart = start, skipped = 0
        // The length of the prefix of `key` that the previous entry, which is before `key`, has.
        var matched = 0, keyCount = 0, row = IndexEntry.noRow
        while at < count {
            if skipped == entriesPerInterval {
                intervalStart = at
                skipped = 0
                row = IndexEntry.noRow
            }
            guard let entry = entry(at: at, after: keyCount, row) else { return .malformed }
            if skipped == 0 {
                guard entry.shared == 0 else { return .malformed }
                matched = 0
            }
            (keyCount, row) = (entry.keyCount, entry.row)
            if entry.shared < matched, entry.restCount > 0 {
                return .found(intervalStart: intervalStart, skipped: skipped, entry, matched: commonLength &+ entry.shared)
            }
            // `shared` is less if the entry's key is a prefix of the previous one: then its row number decides.
            if entry.shared <= matched {
                let (order, more) = compare(entry, key, from: entry.shared)
                if order >= 0 { return .found(intervalStart: intervalStart, skipped: skipped, entry, matched: commonLength &+ more) }
                matched = more
            }
            skipped &+= 1
            at = entry.next
            if isPacked, matched == keyCount, key.count == keyCount &+ KeyBuilder.rowSuffixSize {
                // The key is this entry's with another row.
                skipped &+= passSteps(at: &at, after: &row, below: IndexEntry.row(of: key), atMost: entriesPerInterval &- skipped)
            }
        }
        return .none
    }
}
