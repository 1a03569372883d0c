/// Scans the entries of one run, in memory or on disk, within a range, in either direction.
///
/// It shows an entry as its key followed by six bytes of row number, in any kind of run. A class and not a protocol, because `MergeCursor`
/// reads and moves cursors for each entry without counting references. The class itself scans nothing.
/// See docs/decisions/0088-dispatch-without-traps.md.
class RunCursor {
    /// The current entry; valid until the next move.
    fileprivate(set) final var key = UnsafeRawBufferPointer(start: nil, count: 0)
    fileprivate(set) final var isTombstone = false
    fileprivate(set) final var isValid = false
    fileprivate final let range: KeyRange
    fileprivate final let isDescending: Bool
    @exclusivity(unchecked) fileprivate final var ahead = Readahead()
    /// Holds the current block, if its file keeps none in memory.
    @exclusivity(unchecked) fileprivate final var passing: ReadBuffer?

    fileprivate init(_ range: KeyRange, isDescending: Bool) {
        self.range = range
        self.isDescending = isDescending
    }

    /// Moves to the next entry; `isValid` is false at the end.
    func advance() throws(StoreError) { isValid = false }

    /// Goes on to the first entry at or after `key`, which is not in the cursor's own memory. Ascending only.
    /// - Complexity: O(log entries).
    func seek(_ key: UnsafeRawBufferPointer) throws(StoreError) {
        while isValid, KeyBytes.compare(self.key, key) < 0 { try advance() }
    }

    /// Takes the rows of the next entries, as far as they have the current one's key and are cheap to tell. The last of them is current then.
    /// - Returns: the number of rows; 0 says nothing about the next entry.
    func takeSteps(into rows: UnsafeMutableBufferPointer<UInt64>) -> Int { 0 }

    /// Whether the key is before the far end of the range. The scan started at the near end.
    @inline(__always)
    fileprivate final func isInside(_ key: UnsafeRawBufferPointer) -> Bool {
        if isDescending {
            guard let lower = range.lower else { return true }
            return lower.withUnsafeBytes { KeyBytes.compare(key, $0) >= 0 }
        }
        guard let upper = range.upper else { return true }
        return upper.withUnsafeBytes { KeyBytes.compare(key, $0) < 0 }
    }

    static func over(_ run: ImmutableMemtable, _ range: KeyRange, isDescending: Bool) -> RunCursor {
        ImmutableMemtableCursor(run, range, isDescending: isDescending)
    }

    static func over(_ run: SortedRun, _ range: KeyRange, isDescending: Bool) throws(StoreError) -> RunCursor {
        isDescending ? try DescendingDiskCursor(run, range) : try AscendingDiskCursor(run, range)
    }
}

private final class ImmutableMemtableCursor: RunCursor {
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
        super.init(range, isDescending: isDescending)
        if isDescending {
            position = (range.upper.map { $0.withUnsafeBytes { run.lowerBound($0) } } ?? run.count) - 1
        } else {
            position = range.lower.map { $0.withUnsafeBytes { run.lowerBound($0) } } ?? 0
        }
        show()
    }

    override func advance() {
        guard isValid else { return }
        position &+= isDescending ? -1 : 1
        // Keys are stored in the order in which they were added: waiting for one after another takes as long as writing them.
        if isOfAll, position % Self.touchedAtOnce == 0 { touched ^= entries.touch(position &+ Self.touchedAtOnce, Self.touchedAtOnce) }
        show()
    }

    private static let touchedAtOnce = 16

    override func seek(_ key: UnsafeRawBufferPointer) {
        guard isValid, KeyBytes.compare(self.key, key) < 0 else { return }
        position = run.lowerBound(key)
        show()
    }

    private func show() {
        guard position >= 0, position < entries.count else {
            isValid = false
            return
        }
        let entry = entries.entries[position]
        key = entry.bytes
        isTombstone = entry.isTombstone
        isValid = isInside(entry.bytes)
    }
}

/// Keeps the current key in its own memory, and overwrites its end with the next entry's rest.
private final class AscendingDiskCursor: RunCursor {
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
    private var row = IndexEntry.noRow
    /// The first position in which the current entry differs from the range's upper end. The following entries that share the bytes up to and
    /// including it are before the end too.
    private var insideAt = Int.max

    init(_ run: SortedRun, _ range: KeyRange) throws(StoreError) {
        self.run = run
        root = try run.blocks()
        let lower = range.lower ?? []
        blockIndex = lower.withUnsafeBytes(root.block)
        block = try run.block(root.pointer(blockIndex))
        buffer = .allocate(byteCount: capacity, alignment: 8)
        super.init(range, isDescending: false)
        try seek(lower)
    }

    deinit {
        buffer.deallocate()
    }

    private func seek(_ lower: [UInt8]) throws(StoreError) {
        while true {
            switch lower.withUnsafeBytes({ block.lowerBound($0) }) {
            case .found(let start, let skipped, _, _):
                try enter(block, at: start, skipping: skipped)
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
        row = IndexEntry.noRow
        next = offset
    }

    /// Shows the entry that follows so many others behind an interval's start.
    private func enter(_ block: IndexBlock, at start: Int, skipping skipped: Int) throws(StoreError) {
        enter(block, at: start)
        try show()
        let passed = block.isPacked ? block.passSteps(at: &next, after: &row, below: .max, atMost: skipped &- 1) : 0
        for _ in passed..<skipped { try show() }
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
    private func show() throws(StoreError) {
        guard let entry = block.entry(at: next, after: keyCount &- block.commonLength, row), block.commonLength &+ entry.shared <= keyCount else {
            throw run.corrupt(root.pointer(blockIndex))
        }
        let at = block.commonLength &+ entry.shared
        reserve(at &+ entry.restCount)
        (buffer + at).copyMemory(from: block.bytes + entry.restStart, byteCount: entry.restCount)
        keyCount = at &+ entry.restCount
        row = entry.row
        // The row's six bytes, big-endian, as the upper bytes of a word.
        (buffer + keyCount).storeBytes(of: (entry.row << 16).bigEndian, as: UInt64.self)
        key = UnsafeRawBufferPointer(start: buffer, count: keyCount &+ KeyBuilder.rowSuffixSize)
        isTombstone = entry.isTombstone
        next = entry.next
        isValid = at > insideAt || isBeforeEnd()
    }

    @inline(__always)
    private func isBeforeEnd() -> Bool {
        guard let upper = range.upper else { return true }
        return upper.withUnsafeBytes { upper in
            let shared = KeyBytes.shared(key, upper)
            let isBefore = shared < upper.count && (shared == key.count || key[shared] < upper[shared])
            insideAt = isBefore ? shared : .max
            return isBefore
        }
    }

    override func takeSteps(into rows: UnsafeMutableBufferPointer<UInt64>) -> Int {
        // Rows behind a position of the key that tells all are inside the range too.
        guard isValid, block.isPacked, keyCount > insideAt else { return 0 }
        let taken = block.steps(at: &next, after: &row, into: rows)
        if taken > 0 { (buffer + keyCount).storeBytes(of: (row << 16).bigEndian, as: UInt64.self) }
        return taken
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws(StoreError) {
        guard isValid, KeyBytes.compare(self.key, key) < 0 else { return }
        let wanted = root.block(for: key)
        if wanted > blockIndex { try move(to: wanted) }
        while true {
            switch block.lowerBound(key) {
            case .found(let start, let skipped, _, _):
                try enter(block, at: start, skipping: skipped)
                return
            case .none:
                guard blockIndex + 1 < root.count else {
                    isValid = false
                    return
                }
                try move(to: blockIndex + 1)
            case .malformed:
                throw run.corrupt(root.pointer(blockIndex))
            }
        }
    }

    private func move(to index: Int) throws(StoreError) {
        blockIndex = index
        block = try run.block(root.pointer(index), &ahead, passing: &passing)
    }

    override func advance() throws(StoreError) {
        guard isValid else { return }
        if next >= block.count {
            guard blockIndex + 1 < root.count else {
                isValid = false
                return
            }
            blockIndex += 1
            block = try run.block(root.pointer(blockIndex), &ahead, passing: &passing)
            enter(block, at: block.entriesStart)
        }
        try show()
    }
}

/// Decodes one interval at a time and scans it backwards.
private final class DescendingDiskCursor: RunCursor {
    private let run: SortedRun
    private let root: IndexRoot
    private var blockIndex: Int
    private var block: IndexBlock
    private var interval = 0
    /// The keys of the interval with their row numbers, one after another.
    private var bytes: [UInt8] = []
    private var entries: [(start: Int, isTombstone: Bool)] = []
    private var position = -1

    init(_ run: SortedRun, _ range: KeyRange) throws(StoreError) {
        self.run = run
        let root = try run.blocks()
        self.root = root
        blockIndex = range.upper.map { $0.withUnsafeBytes { root.block(for: $0) } } ?? root.count - 1
        block = try run.block(root.pointer(blockIndex))
        super.init(range, isDescending: true)
        try decode(block.intervalCount - 1)
        isValid = true
        // From the block's end back to the first entry before the range's.
        if let upper = range.upper {
            while interval > 0, try compare(0, upper) >= 0 { try decode(interval - 1) }
            while isValid, try compare(position, upper) >= 0 { try stepBack() }
        }
        if isValid { try show() }
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
        var keyCount = 0, row = IndexEntry.noRow
        while at < end {
            guard let entry = block.entry(at: at, after: keyCount, row), entry.shared <= keyCount, entry.next <= end,
                entries.count < block.entriesPerInterval
            else { throw run.corrupt(root.pointer(blockIndex)) }
            (keyCount, row) = (entry.keyCount, entry.row)
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

    private func show() throws(StoreError) {
        let own = range(position)
        key = bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[own]) }
        isTombstone = entries[position].isTombstone
        isValid = isInside(key)
    }

    override func advance() throws(StoreError) {
        guard isValid else { return }
        try stepBack()
        if isValid { try show() }
    }

    private func stepBack() throws(StoreError) {
        position -= 1
        guard position < 0 else { return }
        if interval > 0 {
            try decode(interval - 1)
        } else if blockIndex > 0 {
            blockIndex -= 1
            block = try run.block(root.pointer(blockIndex), &ahead, passing: &passing)
            try decode(block.intervalCount - 1)
        } else {
            isValid = false
        }
    }
}
