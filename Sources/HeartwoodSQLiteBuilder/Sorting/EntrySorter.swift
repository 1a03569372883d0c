/// Sorts the entries of one index, in memory and beyond its bound in runs of a temporary file.
///
/// (1) Entries, each with its length before it, grow from the start of the memory, and items that point to them from its end.
/// (2) A run is in order. Runs and the entries in memory have all entries between them.
final class EntrySorter {
    let order: EntryOrder
    private unowned let space: SortSpace
    private var memory: UnsafeMutableRawPointer
    /// Of the memory, in bytes.
    private(set) var capacity = 0
    private var used = 0
    /// The entries in memory.
    private(set) var count = 0
    private(set) var runs: [SortedRun] = []
    /// The runs that are read.
    private var merge: RunMerge?
    /// The next entry to read, if all are in memory.
    private var index = 0

    /// An entry in memory. Its prefix settles most comparisons.
    private struct Item {
        let prefix: UInt64
        let offset: UInt32
    }

    private static let itemSize = MemoryLayout<Item>.stride
    static let lengthSize = 4
    private static let firstCapacity = 4096

    init(_ order: EntryOrder, space: SortSpace) {
        self.order = order
        self.space = space
        memory = .allocate(byteCount: 0, alignment: 16)
    }

    deinit { memory.deallocate() }

    private var items: UnsafeMutableBufferPointer<Item> {
        let start = (memory + (capacity - count * Self.itemSize)).assumingMemoryBound(to: Item.self)
        return UnsafeMutableBufferPointer(start: start, count: count)
    }

    // MARK: Adding

    /// Adds an entry that `fill` writes.
    /// - Parameter size: of the record.
    @inline(__always)
    func add(_ size: Int, _ fill: (UnsafeMutableRawPointer) -> Void) throws(SQLiteBuildError) {
        let needed = Self.lengthSize + size + Self.itemSize
        if used + count * Self.itemSize + needed > capacity { try makeRoom(needed) }
        let start = memory + used
        start.storeBytes(of: UInt32(size), as: UInt32.self)
        fill(start + Self.lengthSize)
        count += 1
        items.baseAddress?.initialize(to: Item(prefix: order.prefix(start + Self.lengthSize), offset: UInt32(used)))
        used += Self.lengthSize + size
    }

    @inline(never)
    private func makeRoom(_ needed: Int) throws(SQLiteBuildError) {
        let before = capacity, wanted = max(2 * capacity, Self.firstCapacity)
        try space.makeRoom(wanted - capacity)
        // After a spill of its own entries the sort takes its former size again.
        let size = max(capacity == 0 ? max(before, Self.firstCapacity) : wanted, used + count * Self.itemSize + needed)
        grow(to: (size + 15) & ~15)
    }

    private func grow(to size: Int) {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16), tail = count * Self.itemSize
        larger.copyMemory(from: memory, byteCount: used)
        (larger + (size - tail)).copyMemory(from: memory + (capacity - tail), byteCount: tail)
        memory.deallocate()
        memory = larger
        capacity = size
    }

    private func release() {
        memory.deallocate()
        memory = .allocate(byteCount: 0, alignment: 16)
        capacity = 0
        used = 0
        count = 0
    }

    // MARK: Runs

    private func sort() {
        let memory = UnsafeRawPointer(memory), order = order
        var items = items
        items.sort { left, right in
            if left.prefix != right.prefix { return left.prefix < right.prefix }
            return order.compare(memory + Int(left.offset) + Self.lengthSize, memory + Int(right.offset) + Self.lengthSize) < 0
        }
    }

    private func entry(_ item: Item) -> UnsafeRawBufferPointer {
        let start = UnsafeRawPointer(memory) + Int(item.offset)
        return UnsafeRawBufferPointer(start: start + Self.lengthSize, count: Int(start.loadUnaligned(as: UInt32.self)))
    }

    /// Writes the entries in memory to a run, and frees the memory.
    func spill() throws(SQLiteBuildError) {
        sort()
        let run = RunWriter(space)
        for index in 0..<count { try run.append(entry(items[index])) }
        runs.append(try run.finish())
        release()
    }

    // MARK: Reading

    /// Calls `body` with each entry in the order of the index, and frees the memory.
    func forEach(_ body: (UnsafeRawBufferPointer) throws(SQLiteBuildError) -> Void) throws(SQLiteBuildError) {
        try finish()
        if var merge = merge.take() {
            while let entry = try merge.next() { try body(entry) }
            runs = []
        } else {
            for index in 0..<count { try body(entry(items[index])) }
        }
        release()
    }

    /// Ends the adding. `next` gives the entries then.
    func finish() throws(SQLiteBuildError) {
        guard !runs.isEmpty else { return sort() }
        if count > 0 { try spill() }
        while runs.count > space.fanIn {
            let merged = RunWriter(space)
            var merge = try RunMerge(runs.prefix(space.fanIn), order, space)
            while let entry = try merge.next() { try merged.append(entry) }
            runs.removeFirst(space.fanIn)
            runs.append(try merged.finish())
        }
        merge = try RunMerge(runs[...], order, space)
    }

    /// - Returns: an entry that stays until the next call; nil behind the last one.
    func next() throws(SQLiteBuildError) -> UnsafeRawBufferPointer? {
        if merge != nil { return try merge?.next() }
        guard index < count else { return nil }
        defer { index += 1 }
        return entry(items[index])
    }
}
