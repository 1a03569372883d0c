#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Darwin)
    import Darwin
#elseif canImport(ucrt)
    import ucrt
#endif

/// A sorted, immutable set of index entries in memory. An entry is key bytes and six bytes of row, or the tombstone of one.
///
/// Invariant: entries are strictly ascending by bytes.
final class MemoryRun: @unchecked Sendable {
    // Unchecked: the arena is never written after `init`.
    struct Entry {
        /// The first eight bytes, big-endian: most comparisons end here.
        var prefix: UInt64
        var offset: UInt32
        /// The top bit marks a tombstone.
        var lengthAndTombstone: UInt32

        static let tombstoneBit: UInt32 = 1 << 31

        @inline(__always) var length: Int { Int(lengthAndTombstone & ~Self.tombstoneBit) }
        @inline(__always) var isTombstone: Bool { lengthAndTombstone & Self.tombstoneBit != 0 }
    }

    private let arena: UnsafeRawBufferPointer
    let entries: [Entry]

    init(arena bytes: [UInt8], entries: [Entry]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyBytes(from: bytes)
        arena = UnsafeRawBufferPointer(copy)
        self.entries = entries
    }

    deinit {
        arena.deallocate()
    }

    var count: Int { entries.count }
    var byteCount: Int { arena.count }

    @inline(__always)
    static func prefix(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
        var prefix: UInt64 = 0
        for byte in bytes { prefix = prefix << 8 | UInt64(byte) }
        return bytes.isEmpty ? 0 : prefix << UInt64(8 * (8 - bytes.count))
    }

    /// memcmp, shorter first.
    @inline(__always)
    static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let count = min(a.count, b.count)
        if count > 0 {
            let order = memcmp(a.baseAddress!, b.baseAddress!, count)
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }

    /// The bytes of an entry; valid as long as the run is held.
    @inline(__always)
    func key(_ index: Int) -> UnsafeRawBufferPointer {
        let entry = entries[index]
        return UnsafeRawBufferPointer(start: arena.baseAddress.map { $0 + Int(entry.offset) }, count: entry.length)
    }

    @inline(__always)
    func isTombstone(_ index: Int) -> Bool { entries[index].isTombstone }

    /// The first entry that starts with `key`; nil where there is none.
    func first(prefix key: UnsafeRawBufferPointer) -> (row: UInt64, isTombstone: Bool)? {
        let index = lowerBound(key)
        guard index < count else { return nil }
        let found = self.key(index)
        guard found.count >= key.count, Self.compare(UnsafeRawBufferPointer(rebasing: found[..<key.count]), key) == 0 else { return nil }
        return (IndexCursor.row(of: found), isTombstone(index))
    }

    /// The index of the first entry at or after `key`.
    func lowerBound(_ key: UnsafeRawBufferPointer) -> Int {
        let prefix = Self.prefix(key)
        var low = 0, high = entries.count
        while low < high {
            let middle = (low &+ high) / 2
            let known = entries[middle].prefix
            let isBefore = known != prefix ? known < prefix : Self.compare(self.key(middle), key) < 0
            if isBefore { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}

/// Gathers entries in any order and sorts them once.
struct MemoryRunBuilder {
    private var arena: [UInt8] = []
    private var entries: [MemoryRun.Entry] = []
    private var isSorted = true

    /// So that offsets fit 32 bits: a full builder takes no more, and a key is far shorter than what is left.
    static let arenaMax = Int(UInt32.max) / 2

    mutating func reserve(entries entryCount: Int, bytes byteCount: Int) {
        entries.reserveCapacity(entryCount)
        arena.reserveCapacity(byteCount)
    }

    var isEmpty: Bool { entries.isEmpty }
    var isFull: Bool { arena.count >= Self.arenaMax }

    /// Adds an entry; of equal ones the last added counts.
    @inline(__always)
    mutating func append(_ key: UnsafeRawBufferPointer, isTombstone: Bool) {
        let entry = MemoryRun.Entry(
            prefix: MemoryRun.prefix(key), offset: UInt32(arena.count),
            lengthAndTombstone: UInt32(key.count) | (isTombstone ? MemoryRun.Entry.tombstoneBit : 0))
        arena.append(contentsOf: key)
        if isSorted, let last = entries.last, last.prefix > entry.prefix || last.prefix == entry.prefix && !isAfter(last, key) {
            isSorted = false
        }
        entries.append(entry)
    }

    private func isAfter(_ last: MemoryRun.Entry, _ key: UnsafeRawBufferPointer) -> Bool {
        arena.withUnsafeBytes {
            MemoryRun.compare(UnsafeRawBufferPointer(rebasing: $0[Int(last.offset)..<(Int(last.offset) + last.length)]), key) < 0
        }
    }

    consuming func finish() -> MemoryRun {
        guard !isSorted else { return MemoryRun(arena: arena, entries: entries) }
        let arena = self.arena
        var entries = self.entries
        arena.withUnsafeBytes { arena in
            let base = arena.baseAddress!
            @inline(__always) func bytes(_ entry: MemoryRun.Entry) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(start: base + Int(entry.offset), count: entry.length)
            }
            entries.withUnsafeMutableBufferPointer { entries in
                entries.sort { a, b in
                    if a.prefix != b.prefix { return a.prefix < b.prefix }
                    let order = MemoryRun.compare(bytes(a), bytes(b))
                    // The offset tells which was added later: the order of equal entries.
                    return order != 0 ? order < 0 : a.offset < b.offset
                }
            }
            var kept = 0
            for index in entries.indices {
                if kept > 0, entries[kept - 1].prefix == entries[index].prefix,
                    MemoryRun.compare(bytes(entries[kept - 1]), bytes(entries[index])) == 0
                {
                    entries[kept - 1] = entries[index]
                } else {
                    entries[kept] = entries[index]
                    kept += 1
                }
            }
            entries.removeLast(entries.count - kept)
        }
        return MemoryRun(arena: arena, entries: entries)
    }
}
