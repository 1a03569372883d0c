import Foundation

/// Numbers byte strings in the order in which they first come.
///
/// Keys lie one after the other in one buffer, and are found by their hash: no object and no allocation for each.
final class GroupTable {
    private struct Entry {
        let hash: UInt64
        let start: Int
        let count: Int
    }

    private var arena: [UInt8] = []
    private var entries: [Entry] = []
    /// The number of an entry, one more; 0 for none. A power of two of them, at most half of them taken.
    private var slots = [Int](repeating: 0, count: 64)
    /// Another one for each table, so that nobody can choose keys that meet.
    private let seed = UInt64.random(in: 1 ... .max)

    var count: Int { entries.count }

    /// - Complexity: O(bytes of the key), on average.
    func number(of key: UnsafeRawBufferPointer) -> (number: Int, isNew: Bool) {
        let hash = hash(key)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
        while slots[slot] != 0 {
            let number = slots[slot] &- 1, entry = entries[number]
            if entry.hash == hash, entry.count == key.count, isEqual(key, entry) { return (number, false) }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        entries.append(Entry(hash: hash, start: arena.count, count: key.count))
        arena.append(contentsOf: key)
        slots[slot] = entries.count
        if entries.count * 2 > slots.count { grow() }
        return (entries.count - 1, true)
    }

    private func isEqual(_ key: UnsafeRawBufferPointer, _ entry: Entry) -> Bool {
        guard let bytes = key.baseAddress else { return true }
        return arena.withUnsafeBytes { arena in
            guard let base = arena.baseAddress else { return false }
            return memcmp(base + entry.start, bytes, entry.count) == 0
        }
    }

    private func grow() {
        slots = [Int](repeating: 0, count: slots.count * 2)
        for (number, entry) in entries.enumerated() {
            var slot = Int(truncatingIfNeeded: entry.hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = number + 1
        }
    }

    /// Eight bytes a step, each mixed in by a multiplication whose halves are joined.
    @inline(__always)
    private func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
        func mix(_ word: UInt64) -> UInt64 {
            let product = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            return product.high ^ product.low
        }
        var result = seed ^ UInt64(truncatingIfNeeded: key.count), at = 0
        while at &+ 8 <= key.count {
            result = mix(result ^ key.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            at &+= 8
        }
        var tail: UInt64 = 0
        while at < key.count {
            tail = tail << 8 | UInt64(key[at])
            at &+= 1
        }
        return mix(result ^ tail)
    }
}
