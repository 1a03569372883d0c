import RecordLog

/// Sorts entries by their key in bounded memory. Runs that do not fit in memory lie in a scratch file and are merged as they are read.
///
/// The states follow each other: `add` calls, one `finish`, `next` calls.
final class LinkSorter {
    struct Entry {
        let key: Int64
        let first: Int64
        let second: Int64
    }

    /// In entries of 24 bytes: 6 MiB.
    static let capacityDefault = 1 << 18

    private let capacity: Int
    private let scratch: ScratchFile
    private var buffer: [Entry] = []
    private var runs: [Range<UInt64>] = []
    private var readers: [RunReader] = []
    /// The runs whose readers have an entry: a binary heap by that entry's key.
    private var heap: [Int] = []
    /// The next entry of a list that fits in memory.
    private var index = 0

    init(_ scratch: ScratchFile, capacity: Int = LinkSorter.capacityDefault) {
        self.scratch = scratch
        self.capacity = capacity
    }

    func add(_ entry: Entry) throws {
        if buffer.count == capacity { try spill() }
        buffer.append(entry)
    }

    private func spill() throws {
        buffer.sort { $0.key < $1.key }
        runs.append(try buffer.withUnsafeBytes { try scratch.append($0) })
        buffer.removeAll(keepingCapacity: true)
    }

    func finish() throws {
        guard !runs.isEmpty else { return buffer.sort { $0.key < $1.key } }
        if !buffer.isEmpty { try spill() }
        buffer = []
        let each = max(capacity / runs.count, 16)
        readers = try runs.map { try RunReader(scratch, $0, capacity: each) }
        for run in readers.indices { push(run) }
    }

    // MARK: Reading

    private var head: Entry? {
        guard readers.isEmpty else { return heap.first.map { readers[$0].head } }
        return index < buffer.count ? buffer[index] : nil
    }

    func next() throws -> Entry? {
        guard let entry = head else { return nil }
        guard !readers.isEmpty else {
            index += 1
            return entry
        }
        if try !readers[heap[0]].advance() {
            heap[0] = heap[heap.count - 1]
            heap.removeLast()
        }
        sink()
        return entry
    }

    /// The entry of a key, where the keys that are asked for rise. Entries of keys between them are left out.
    /// - Throws: the error that `other` makes of a second entry of the same key.
    func take(_ key: Int64, other: (Entry, Entry) -> any Error) throws -> Entry? {
        while let entry = head, entry.key < key { _ = try next() }
        guard let entry = head, entry.key == key else { return nil }
        _ = try next()
        if let second = head, second.key == key { throw other(entry, second) }
        return entry
    }

    // MARK: Heap

    private func isLess(_ left: Int, _ right: Int) -> Bool { readers[heap[left]].head.key < readers[heap[right]].head.key }

    private func push(_ run: Int) {
        heap.append(run)
        var child = heap.count - 1
        while child > 0, isLess(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private func sink() {
        var parent = 0
        while 2 * parent + 1 < heap.count {
            var child = 2 * parent + 1
            if child + 1 < heap.count, isLess(child + 1, child) { child += 1 }
            guard isLess(child, parent) else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}

/// Reads one sorted run of a scratch file.
private struct RunReader {
    private let scratch: ScratchFile
    private var rest: Range<UInt64>
    private var entries: [LinkSorter.Entry] = []
    private var index = 0
    private let capacity: Int

    /// - Parameter range: not empty.
    init(_ scratch: ScratchFile, _ range: Range<UInt64>, capacity: Int) throws {
        self.scratch = scratch
        self.capacity = capacity
        rest = range
        try refill()
    }

    var head: LinkSorter.Entry { entries[index] }

    /// - Returns: false at the end of the run.
    mutating func advance() throws -> Bool {
        index += 1
        if index < entries.count { return true }
        guard !rest.isEmpty else { return false }
        try refill()
        return true
    }

    private mutating func refill() throws {
        let size = MemoryLayout<LinkSorter.Entry>.stride, count = min(capacity, Int(rest.count) / size)
        if entries.count != count { entries = Array(repeating: LinkSorter.Entry(key: 0, first: 0, second: 0), count: count) }
        try entries.withUnsafeMutableBytes { try scratch.read(into: $0, at: rest.lowerBound) }
        rest = rest.lowerBound + UInt64(count * size)..<rest.upperBound
        index = 0
    }
}
