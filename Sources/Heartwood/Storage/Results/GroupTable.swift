import Foundation

/// Numbers byte strings in the order in which they first appear.
///
/// One buffer holds all keys, and a hash table finds them: no object and no allocation for each key.
final class GroupTable {
    private struct Entry {
        let hash: UInt64
        let start: Int
        let count: Int
    }

    private var arena: UnsafeMutableRawPointer = .allocate(byteCount: 1024, alignment: 8)
    private var arenaSize = 1024
    private var arenaUsed = 0
    private let entries = GroupValues<Entry>()
    /// Each slot holds an entry's number plus one, or 0 where it is free. Their count is a power of two; at most half of them are in use.
    private var slots = GroupTable.slots(64)
    private var mask = 63
    /// A random seed for each table, so that keys cannot be chosen to collide.
    private let seed = UInt64.random(in: 1 ... .max)

    deinit {
        arena.deallocate()
        slots.deallocate()
    }

    private static func slots(_ count: Int) -> UnsafeMutablePointer<Int> {
        let slots = UnsafeMutablePointer<Int>.allocate(capacity: count)
        slots.initialize(repeating: 0, count: count)
        return slots
    }

    var count: Int { entries.count }

    /// Returns the number of a key. A key without one gets the next.
    /// - Complexity: O(bytes of the key) on average.
    func number(of key: UnsafeRawBufferPointer) -> (number: Int, isNew: Bool) {
        let hash = hash(key), slot = slot(of: key, hash)
        guard slots[slot] == 0 else { return (slots[slot] &- 1, false) }
        entries.append(Entry(hash: hash, start: arenaUsed, count: key.count))
        keep(key)
        slots[slot] = entries.count
        if entries.count * 2 > mask { grow() }
        return (entries.count - 1, true)
    }

    /// Whether a key has a number. Several threads may call this at once, as long as no thread adds a key.
    func contains(_ key: UnsafeRawBufferPointer) -> Bool { slots[slot(of: key, hash(key))] != 0 }

    /// Returns the key's slot; a free one where the table does not contain the key.
    @inline(__always)
    private func slot(of key: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let entry = entries[slots[slot] &- 1]
            if entry.hash == hash, entry.count == key.count, isEqual(key, at: entry.start) { break }
            slot = (slot &+ 1) & mask
        }
        return slot
    }

    @inline(__always)
    private func isEqual(_ key: UnsafeRawBufferPointer, at start: Int) -> Bool {
        guard let bytes = key.baseAddress else { return true }
        return memcmp(arena + start, bytes, key.count) == 0
    }

    private func keep(_ key: UnsafeRawBufferPointer) {
        guard let bytes = key.baseAddress else { return }
        if arenaUsed + key.count > arenaSize {
            arenaSize = max(arenaSize * 2, arenaUsed + key.count)
            let grown = UnsafeMutableRawPointer.allocate(byteCount: arenaSize, alignment: 8)
            grown.copyMemory(from: arena, byteCount: arenaUsed)
            arena.deallocate()
            arena = grown
        }
        (arena + arenaUsed).copyMemory(from: bytes, byteCount: key.count)
        arenaUsed += key.count
    }

    private func grow() {
        slots.deallocate()
        slots = Self.slots((mask + 1) * 2)
        mask = mask * 2 + 1
        for number in 0..<entries.count {
            var slot = Int(truncatingIfNeeded: entries[number].hash) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = number + 1
        }
    }

    /// Takes eight bytes a step. A multiplication mixes each word in, and the halves of its product are joined.
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
