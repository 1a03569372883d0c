/// Scans the entries of one run, in memory or on disk, within a range, in either direction.
///
/// It shows an entry as its key followed by six bytes of row number, in any kind of run. The kinds are an enum and not a protocol, because
/// `MergeCursor` reads cursors for each entry, through `Unmanaged`.
/// See docs/decisions/0088-dispatch-without-traps.md.
final class RunCursor {
    /// The current entry; valid until the next move.
    fileprivate(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    fileprivate(set) var isTombstone = false
    fileprivate(set) var isValid = false
    fileprivate let range: KeyRange
    fileprivate let isDescending: Bool
    private let position: Position

    private enum Position {
        case memory(MemoryPosition)
        case ascending(AscendingPosition)
        case descending(DescendingPosition)
    }

    private init(_ range: KeyRange, isDescending: Bool, _ position: Position) {
        self.range = range
        self.isDescending = isDescending
        self.position = position
    }

    /// Moves to the next entry; `isValid` is false at the end.
    func advance() throws(StoreError) {
        guard isValid else { return }
        switch position {
        case .memory(let position): position.advance(self)
        case .ascending(let position): try position.advance(self)
        case .descending(let position): try position.advance(self)
        }
    }

    /// Whether the key is before the far end of the range. The scan started at the near end.
    @inline(__always)
    fileprivate func isInside(_ key: UnsafeRawBufferPointer) -> Bool {
        if isDescending {
            guard let lower = range.lower else { return true }
            return lower.withUnsafeBytes { KeyBytes.compare(key, $0) >= 0 }
        }
        guard let upper = range.upper else { return true }
        return upper.withUnsafeBytes { KeyBytes.compare(key, $0) < 0 }
    }

    static func over(_ run: ImmutableMemtable, _ range: KeyRange, isDescending: Bool) -> RunCursor {
        let position = MemoryPosition(run, range, isDescending: isDescending)
        let cursor = RunCursor(range, isDescending: isDescending, .memory(position))
        position.show(cursor)
        return cursor
    }

    static func over(_ run: SortedRun, _ range: KeyRange, isDescending: Bool) throws(StoreError) -> RunCursor {
        if isDescending {
            let position = try DescendingPosition(run, range)
            let cursor = RunCursor(range, isDescending: true, .descending(position))
            try position.start(cursor)
            return cursor
        }
        let position = try AscendingPosition(run, range)
        let cursor = RunCursor(range, isDescending: false, .ascending(position))
        try position.seek(cursor)
        return cursor
    }
}

private final class MemoryPosition {
    /// Keeps `entries` alive.
    private let run: ImmutableMemtable
    private let entries: SortedEntries
    private var position = 0
    private let isOfAll: Bool
    private var touched: UInt8 = 0

    init(_ run: ImmutableMemtable, _ range: KeyRange, isDescending: Bool) {
        self.run = run
        entries = run.inOrder
        isOfAll = !isDescending && range.lower == nil && range.upper == nil
        if isDescending {
            position = (range.upper.map { $0.withUnsafeBytes { run.lowerBound($0) } } ?? run.count) - 1
        } else {
            position = range.lower.map { $0.withUnsafeBytes { run.lowerBound($0) } } ?? 0
        }
    }

    func advance(_ cursor: RunCursor) {
        position &+= cursor.isDescending ? -1 : 1
        // Keys are stored in the order in which they were added: waiting for one after another takes as long as writing them.
        if isOfAll, position % Self.touchedAtOnce == 0 { touched ^= entries.touch(position &+ Self.touchedAtOnce, Self.touchedAtOnce) }
        show(cursor)
    }

    private static let touchedAtOnce = 16

    @inline(__always)
    func show(_ cursor: RunCursor) {
        guard position >= 0, position < entries.count else {
            cursor.isValid = false
            return
        }
        let entry = entries.entries[position]
        cursor.key = entry.bytes
        cursor.isTombstone = entry.isTombstone
        cursor.isValid = cursor.isInside(entry.bytes)
    }
}

/// Keeps the current key in its own memory, and overwrites its end with the next entry's rest.
private final class AscendingPosition {
    private let run: SortedRun
    private let root: IndexRoot
    private var blockIndex = 0
    private var block: IndexBlock
    /// The offset of the next entry in the block.
    private var next = 0
    private var buffer: UnsafeMutableRawPointer
    private var capacity = 64
    /// The length of the current key, without the row.
    private var keyCount = 0
    /// The first position in which the current entry differs from the range's upper end. The following entries that share the bytes up to and
    /// including it are before the end too.
    private var insideAt = Int.max
    @exclusivity(unchecked) private var ahead = Readahead()
    /// Holds the current block, if its file keeps none in memory.
    @exclusivity(unchecked) private var passing: ReadBuffer?

    init(_ run: SortedRun, _ range: KeyRange) throws(StoreError) {
        self.run = run
        root = try run.blocks()
        blockIndex = (range.lower ?? []).withUnsafeBytes(root.block)
        block = try run.block(root.pointer(blockIndex))
        buffer = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit {
        buffer.deallocate()
    }

    /// Moves to the range's first entry.
    func seek(_ cursor: RunCursor) throws(StoreError) {
        let lower = cursor.range.lower ?? []
        while true {
            switch lower.withUnsafeBytes({ block.lowerBound($0) }) {
            case .found(let start, let skipped, _, _):
                enter(block, at: start)
                for _ in 0...skipped { try show(cursor) }
                return
            case .none:
                guard blockIndex + 1 < root.count else { return }
                blockIndex += 1
                block = try run.block(root.pointer(blockIndex))
            case .malformed:
                throw run.corrupt(root.pointer(blockIndex))
            }
        }
    }

    private func enter(_ block: IndexBlock, at offset: Int) {
        insideAt = .max
        reserve(block.commonLength)
        buffer.copyMemory(from: block.common.baseAddress ?? UnsafeRawPointer(buffer), byteCount: block.commonLength)
        keyCount = block.commonLength
        next = offset
    }

    @inline(__always)
    private func reserve(_ count: Int) {
        guard count &+ 8 > capacity else { return }
        grow(count &+ 8)
    }

    @inline(never)
    private func grow(_ count: Int) {
        let grown = UnsafeMutableRawPointer.allocate(byteCount: max(count, capacity * 2), alignment: 8)
        grown.copyMemory(from: buffer, byteCount: capacity)
        buffer.deallocate()
        buffer = grown
        capacity = max(count, capacity * 2)
    }

    /// Decodes the entry at `next`.
    @inline(__always)
    private func show(_ cursor: RunCursor) throws(StoreError) {
        guard let entry = block.entry(at: next), block.commonLength &+ entry.shared <= keyCount else {
            throw run.corrupt(root.pointer(blockIndex))
        }
        let at = block.commonLength &+ entry.shared
        reserve(at &+ entry.restCount)
        (buffer + at).copyMemory(from: block.bytes + entry.restStart, byteCount: entry.restCount)
        keyCount = at &+ entry.restCount
        // The row's six bytes, big-endian, as the upper bytes of a word.
        (buffer + keyCount).storeBytes(of: (entry.row << 16).bigEndian, as: UInt64.self)
        let key = UnsafeRawBufferPointer(start: buffer, count: keyCount &+ KeyBuilder.rowSuffixSize)
        cursor.key = key
        cursor.isTombstone = entry.isTombstone
        next = entry.next
        cursor.isValid = at > insideAt || isBeforeEnd(key, of: cursor.range)
    }

    @inline(__always)
    private func isBeforeEnd(_ key: UnsafeRawBufferPointer, of range: KeyRange) -> Bool {
        guard let upper = range.upper else { return true }
        return upper.withUnsafeBytes { upper in
            let shared = KeyBytes.shared(key, upper)
            let isBefore = shared < upper.count && (shared == key.count || key[shared] < upper[shared])
            insideAt = isBefore ? shared : .max
            return isBefore
        }
    }

    func advance(_ cursor: RunCursor) throws(StoreError) {
        if next >= block.count {
            guard blockIndex + 1 < root.count else {
                cursor.isValid = false
                return
            }
            blockIndex += 1
            block = try run.block(root.pointer(blockIndex), &ahead, passing: &passing)
            enter(block, at: block.entriesStart)
        }
        try show(cursor)
    }
}

/// Decodes one interval at a time and scans it backwards.
private final class DescendingPosition {
    private let run: SortedRun
    private let root: IndexRoot
    private var blockIndex: Int
    private var block: IndexBlock
    private var interval = 0
    /// The keys of the interval with their row numbers, one after another.
    private var bytes: [UInt8] = []
    private var entries: [(start: Int, isTombstone: Bool)] = []
    private var position = -1
    @exclusivity(unchecked) private var ahead = Readahead()
    /// Holds the current block, if its file keeps none in memory.
    @exclusivity(unchecked) private var passing: ReadBuffer?

    init(_ run: SortedRun, _ range: KeyRange) throws(StoreError) {
        self.run = run
        let root = try run.blocks()
        self.root = root
        blockIndex = range.upper.map { $0.withUnsafeBytes { root.block(for: $0) } } ?? root.count - 1
        block = try run.block(root.pointer(blockIndex))
    }

    /// Moves from the block's end back to the first entry before the range's.
    func start(_ cursor: RunCursor) throws(StoreError) {
        try decode(block.intervalCount - 1)
        cursor.isValid = true
        if let upper = cursor.range.upper {
            while interval > 0, try compare(0, upper) >= 0 { try decode(interval - 1) }
            while cursor.isValid, try compare(position, upper) >= 0 { try stepBack(cursor) }
        }
        if cursor.isValid { try show(cursor) }
    }

    private func compare(_ index: Int, _ key: [UInt8]) throws(StoreError) -> Int {
        let own = range(index)
        return bytes.withUnsafeBytes { bytes in
            key.withUnsafeBytes { KeyBytes.compare(UnsafeRawBufferPointer(rebasing: bytes[own]), $0) }
        }
    }

    private func range(_ index: Int) -> Range<Int> {
        entries[index].start..<(index + 1 < entries.count ? entries[index + 1].start : bytes.count)
    }

    private func decode(_ index: Int) throws(StoreError) {
        interval = index
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        guard var at = block.start(ofInterval: index) else { throw run.corrupt(root.pointer(blockIndex)) }
        let end = index + 1 < block.intervalCount ? block.start(ofInterval: index + 1) : block.count
        guard let end, end > at else { throw run.corrupt(root.pointer(blockIndex)) }
        let common = block.common
        while at < end {
            let previous = entries.isEmpty ? 0 : range(entries.count - 1).count - KeyBuilder.rowSuffixSize - common.count
            guard let entry = block.entry(at: at), entry.shared <= previous, entry.next <= end,
                entries.count < IndexBlock.Layout.entriesPerInterval
            else { throw run.corrupt(root.pointer(blockIndex)) }
            let start = bytes.count
            bytes.append(contentsOf: common)
            if entry.shared > 0 {
                let from = entries[entries.count - 1].start + common.count
                bytes.append(contentsOf: bytes[from..<from + entry.shared])
            }
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: block.bytes + entry.restStart, count: entry.restCount))
            withUnsafeBytes(of: (entry.row << 16).bigEndian) { bytes.append(contentsOf: $0.prefix(KeyBuilder.rowSuffixSize)) }
            entries.append((start, entry.isTombstone))
            at = entry.next
        }
        position = entries.count - 1
    }

    private func show(_ cursor: RunCursor) throws(StoreError) {
        let own = range(position)
        cursor.key = bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[own]) }
        cursor.isTombstone = entries[position].isTombstone
        cursor.isValid = cursor.isInside(cursor.key)
    }

    func advance(_ cursor: RunCursor) throws(StoreError) {
        try stepBack(cursor)
        if cursor.isValid { try show(cursor) }
    }

    private func stepBack(_ cursor: RunCursor) throws(StoreError) {
        position -= 1
        guard position < 0 else { return }
        if interval > 0 {
            try decode(interval - 1)
        } else if blockIndex > 0 {
            blockIndex -= 1
            block = try run.block(root.pointer(blockIndex), &ahead, passing: &passing)
            try decode(block.intervalCount - 1)
        } else {
            cursor.isValid = false
        }
    }
}
