/// The index entries that a transaction or a replay has added, by index. Entries beyond the memory limit go to a scratch file.
struct AddedEntries: ~Copyable {
    /// The newest entries, by index ID.
    private var buffers = Slots<Memtable>()
    private var spilled: SpilledEntries?
    private var bytesMax: Int
    private var countMax: Int

    /// The assumed size of an entry: smaller entries would be more numerous, and sorting takes 48 bytes for each.
    private static let bytesPerEntry = 32

    /// - Parameter bytesMax: the most bytes of an index's entries in memory.
    init(bytesMax: Int) {
        self.bytesMax = min(bytesMax, Memtable.byteCountMax)
        countMax = bytesMax / Self.bytesPerEntry
    }

    /// - Returns: false if there is no room in memory; nothing is added then.
    @inline(__always)
    mutating func add(_ entry: UnsafeRawBufferPointer, to number: Int, isTombstone: Bool) -> Bool {
        buffer(number)._withUnsafeGuaranteedRef { buffer in
            guard buffer.byteCount &+ entry.count <= bytesMax, buffer.count < countMax else { return false }
            buffer.append(entry, isTombstone: isTombstone)
            return true
        }
    }

    /// Adds an entry after it has moved the index's earlier entries to the scratch file.
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

    /// An index's runs together with the added entries, to which nothing may be added after this call.
    func runs(of number: Int, over older: RunSet = .empty) -> RunSet {
        var runs = older
        for run in spilled?.runs(of: number) ?? [] { runs = runs.adding(run) }
        if let buffer = buffers[number], !buffer.isEmpty { runs = runs.adding(.memory(ImmutableMemtable([buffer]))) }
        return runs
    }

    /// Adds the runs of every index in the list, by its ID.
    func add(to indexes: inout [RunSet?]) {
        // An index whose entries were spilled has a buffer for further entries.
        for number in indexes.indices where buffers.unretained(number) != nil {
            indexes[number] = indexes[number].map { runs(of: number, over: $0) }
        }
    }

    /// Forgets an index's entries.
    mutating func remove(_ number: Int) {
        buffers[number] = nil
        spilled?.remove(number)
    }
}
