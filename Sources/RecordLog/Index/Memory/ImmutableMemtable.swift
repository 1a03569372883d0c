import Synchronization

/// An immutable set of index entries in memory. An entry is key bytes and six bytes of row number, or the tombstone of one.
///
/// The first read sorts it. So a bulk load without reads sorts once, at the checkpoint.
///
/// Invariants:
/// 1. `buffers` are in the order in which their entries were added; of equal entries the last is valid.
/// 2. `sorted` is nil or the entries in order, made under `sorting` and never changed.
final class ImmutableMemtable: @unchecked Sendable {
    // Unchecked: (2).
    private let buffers: [Memtable]
    /// An upper bound of the number of entries: equal entries count separately until they are sorted.
    let countMax: Int
    let byteCount: Int
    private let sorting = Mutex(())
    private let sorted = Atomic<UnsafePointer<SortedEntries>?>(nil)

    init(_ buffers: [Memtable]) {
        self.buffers = buffers
        countMax = buffers.reduce(0) { $0 + $1.count }
        byteCount = buffers.reduce(0) { $0 + $1.byteCount }
    }

    deinit {
        guard let known = sorted.load(ordering: .acquiring) else { return }
        known.pointee.deallocate()
        known.deallocate()
    }

    /// The sorted entries; they live as long as the run.
    @inline(__always)
    var inOrder: SortedEntries {
        if let known = sorted.load(ordering: .acquiring) { return known.pointee }
        return sort()
    }

    @inline(never)
    private func sort() -> SortedEntries {
        sorting.withLock { _ in
            if sorted.load(ordering: .acquiring) == nil {
                let made = UnsafeMutablePointer<SortedEntries>.allocate(capacity: 1)
                made.initialize(to: SortedEntries(buffers))
                sorted.store(UnsafePointer(made), ordering: .releasing)
            }
        }
        guard let made = sorted.load(ordering: .acquiring) else { preconditionFailure("the entries were sorted") }
        return made.pointee
    }

    /// Joins several runs, newest first, into one; of equal entries the newer is valid.
    /// - Complexity: O(entries) for the small runs, which are copied to limit the number of buffers; O(1) for each other run.
    static func joining(_ runs: [ImmutableMemtable]) -> ImmutableMemtable {
        var small = 0, bytes = 0, entries = 0
        for run in runs {
            guard entries + run.countMax <= smallCount else { break }
            small += 1
            bytes += run.byteCount
            entries += run.countMax
        }
        var buffers: [Memtable] = []
        for run in runs[small...].reversed() { buffers += run.buffers }
        if small > 0 {
            let joined = Memtable(bytes: bytes, entries: entries)
            for run in runs[..<small].reversed() {
                for buffer in run.buffers { joined.append(contentsOf: buffer) }
            }
            buffers.append(joined)
        }
        return ImmutableMemtable(buffers)
    }

    private static let smallCount = 4096

    // MARK: Reading

    var count: Int { inOrder.count }

    /// The bytes of an entry; valid as long as the run is held.
    @inline(__always)
    func key(_ index: Int) -> UnsafeRawBufferPointer { inOrder.entries[index].bytes }

    @inline(__always)
    func isTombstone(_ index: Int) -> Bool { inOrder.entries[index].isTombstone }

    /// The first entry that starts with `key`; nil if there is none.
    func first(prefix key: UnsafeRawBufferPointer) -> (row: UInt64, isTombstone: Bool)? {
        let index = lowerBound(key)
        guard index < count else { return nil }
        let found = self.key(index)
        guard found.count >= key.count, KeyBytes.compare(UnsafeRawBufferPointer(rebasing: found[..<key.count]), key) == 0 else { return nil }
        return (IndexEntry.row(of: found), isTombstone(index))
    }

    /// The index of the first entry at or after `key`.
    func lowerBound(_ key: UnsafeRawBufferPointer) -> Int {
        let inOrder = self.inOrder
        guard inOrder.count > 0 else { return 0 }
        let common = UnsafeRawBufferPointer(rebasing: inOrder.entries[0].bytes[..<inOrder.commonLength])
        let head = UnsafeRawBufferPointer(rebasing: key[..<min(key.count, common.count)])
        let order = KeyBytes.compare(head, common)
        guard order == 0 else { return order < 0 ? 0 : inOrder.count }
        let word = KeyBytes.word(UnsafeRawBufferPointer(rebasing: key[common.count...]))
        var low = 0, high = inOrder.count
        while low < high {
            let middle = (low &+ high) / 2
            let entry = inOrder.entries[middle]
            let isBefore = entry.word != word ? entry.word < word : KeyBytes.compare(entry.bytes, key) < 0
            if isBefore { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}
