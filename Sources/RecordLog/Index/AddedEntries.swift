/// The index entries that a transaction or a replay has added, by index: in memory, and beyond what is allowed there set aside.
struct AddedEntries: ~Copyable {
    /// Those added last.
    private var buffers = Slots<EntryBuffer>()
    private var spilled: SpilledEntries?
    private var bytesMax: Int
    private var countMax: Int

    /// What an entry is reckoned at: less makes more of them, and sorting takes 48 bytes for each.
    private static let bytesPerEntry = 32

    /// - Parameter bytesMax: how much of an index's entries is kept in memory.
    init(bytesMax: Int) {
        self.bytesMax = min(bytesMax, EntryBuffer.byteCountMax)
        countMax = bytesMax / Self.bytesPerEntry
    }

    /// - Returns: false, and nothing is added, where there is no room left in memory.
    @inline(__always)
    mutating func add(_ entry: UnsafeRawBufferPointer, to slot: Int, isTombstone: Bool) -> Bool {
        buffer(slot)._withUnsafeGuaranteedRef { buffer in
            guard buffer.byteCount &+ entry.count <= bytesMax, buffer.count < countMax else { return false }
            buffer.append(entry, isTombstone: isTombstone)
            return true
        }
    }

    /// Sets the index's entries aside first.
    /// - Parameter makeSpilled: called the first time.
    @inline(never)
    mutating func addBeyondMemory(
        _ entry: UnsafeRawBufferPointer, to slot: Int, isTombstone: Bool, _ makeSpilled: () -> SpilledEntries
    ) {
        let spilled = spilled ?? makeSpilled()
        self.spilled = spilled
        if let buffer = buffers[slot], !buffer.isEmpty { buffers[slot] = spilled.take(buffer, of: slot) }
        buffers[slot]?.append(entry, isTombstone: isTombstone)
        if spilled.hasFailed { (bytesMax, countMax) = (EntryBuffer.byteCountMax, .max) }
    }

    @inline(__always)
    private mutating func buffer(_ slot: Int) -> Unmanaged<EntryBuffer> {
        if let known = buffers.unretained(slot) { return known }
        let made = EntryBuffer()
        buffers[slot] = made
        return .passUnretained(made)
    }

    var hasSpilled: Bool { spilled != nil }

    /// An index's runs with those that were added. Nothing is added to these any more.
    func runs(of slot: Int, over older: IndexRuns = .empty) -> IndexRuns {
        var runs = older
        for run in spilled?.runs(of: slot) ?? [] { runs = runs.adding(run) }
        if let buffer = buffers[slot], !buffer.isEmpty { runs = runs.adding(.memory(MemoryRun([buffer]))) }
        return runs
    }

    /// The same of every index that there is, by its ID.
    func add(to indexes: inout [IndexRuns?]) {
        // An index whose entries were set aside has a buffer for those to come.
        for slot in indexes.indices where buffers.unretained(slot) != nil { indexes[slot] = indexes[slot].map { runs(of: slot, over: $0) } }
    }

    /// Forgets an index.
    mutating func remove(_ slot: Int) {
        buffers[slot] = nil
        spilled?.remove(slot)
    }
}
