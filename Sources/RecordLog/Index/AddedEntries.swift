/// The index entries that a transaction or a replay has added, by index: in memory, and beyond what is allowed there set aside.
struct AddedEntries: ~Copyable {
    /// Those added last.
    private var buffers = Slots<Memtable>()
    private var spilled: SpilledEntries?
    private var bytesMax: Int
    private var countMax: Int

    /// What an entry is reckoned at: less makes more of them, and sorting takes 48 bytes for each.
    private static let bytesPerEntry = 32

    /// - Parameter bytesMax: how much of an index's entries is kept in memory.
    init(bytesMax: Int) {
        self.bytesMax = min(bytesMax, Memtable.byteCountMax)
        countMax = bytesMax / Self.bytesPerEntry
    }

    /// - Returns: false, and nothing is added, where there is no room left in memory.
    @inline(__always)
    mutating func add(_ entry: UnsafeRawBufferPointer, to number: Int, isTombstone: Bool) -> Bool {
        buffer(number)._withUnsafeGuaranteedRef { buffer in
            guard buffer.byteCount &+ entry.count <= bytesMax, buffer.count < countMax else { return false }
            buffer.append(entry, isTombstone: isTombstone)
            return true
        }
    }

    /// Sets the index's entries aside first.
    /// - Parameter makeSpilled: called the first time.
    @inline(never)
    mutating func addBeyondMemory(
        _ entry: UnsafeRawBufferPointer, to number: Int, isTombstone: Bool, _ makeSpilled: () -> SpilledEntries
    ) {
        let spilled = spilled ?? makeSpilled()
        self.spilled = spilled
        if let buffer = buffers[number], !buffer.isEmpty { buffers[number] = spilled.take(buffer, of: number) }
        buffers[number]?.append(entry, isTombstone: isTombstone)
        if spilled.hasFailed { (bytesMax, countMax) = (Memtable.byteCountMax, .max) }
    }

    @inline(__always)
    private mutating func buffer(_ number: Int) -> Unmanaged<Memtable> {
        if let known = buffers.unretained(number) { return known }
        let made = Memtable()
        buffers[number] = made
        return .passUnretained(made)
    }

    var hasSpilled: Bool { spilled != nil }

    /// An index's runs with those that were added. Nothing is added to these any more.
    func runs(of number: Int, over older: RunSet = .empty) -> RunSet {
        var runs = older
        for run in spilled?.runs(of: number) ?? [] { runs = runs.adding(run) }
        if let buffer = buffers[number], !buffer.isEmpty { runs = runs.adding(.memory(ImmutableMemtable([buffer]))) }
        return runs
    }

    /// The same of every index that there is, by its ID.
    func add(to indexes: inout [RunSet?]) {
        // An index whose entries were set aside has a buffer for those to come.
        for number in indexes.indices where buffers.unretained(number) != nil { indexes[number] = indexes[number].map { runs(of: number, over: $0) } }
    }

    /// Forgets an index.
    mutating func remove(_ number: Int) {
        buffers[number] = nil
        spilled?.remove(number)
    }
}
