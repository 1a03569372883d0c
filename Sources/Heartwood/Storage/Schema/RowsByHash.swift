import RecordLog

/// Rows by hashes of their current or former values: an open-addressing table with linear probing, 16 bytes a slot.
///
/// Invariants:
/// 1. The number of slots is 0 or a power of two, and at least a quarter of them is free, so that each search ends.
/// 2. A free slot has the reference 0, which no row has.
struct RowsByHash {
    private var slots: [(hash: UInt64, reference: RowReference)] = []
    private var count = 0
    /// Depends on every slot that `prepare` reads, so that the reads are not optimized away.
    private var seen: UInt64 = 0

    /// Reserves room for hashes and reads their slots in advance, so that the cache misses overlap.
    mutating func prepare(_ hashes: [UInt64]) {
        while (count + hashes.count) * 4 > slots.count * 3 { grow() }
        for hash in hashes { seen ^= slots[Int(truncatingIfNeeded: hash) & (slots.count - 1)].hash }
    }

    mutating func insert(_ hash: UInt64, _ reference: RowReference) {
        if (count + 1) * 4 > slots.count * 3 { grow() }
        let (index, found) = search(hash) { $0 == reference }
        guard found == nil else { return }
        slots[index] = (hash, reference)
        count += 1
    }

    func contains(_ hash: UInt64) -> Bool { first(hash) { _ in true } != nil }

    /// Returns a row with this hash that `isIncluded` accepts.
    func first(_ hash: UInt64, where isIncluded: (RowReference) throws -> Bool) rethrows -> RowReference? {
        count == 0 ? nil : try search(hash, isIncluded).found
    }

    /// Returns the slot of a wanted row with this hash, or the free slot that ends the search.
    @inline(__always)
    private func search(_ hash: UInt64, _ isIncluded: (RowReference) throws -> Bool) rethrows -> (slot: Int, found: RowReference?) {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while !slots[slot].reference.isNone {
            let (known, reference) = slots[slot]
            if known == hash, try isIncluded(reference) { return (slot, reference) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (slot, nil)
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: (0, RowReference(rawValue: 0)), count: max(16, old.count * 2))
        count = 0
        for (hash, reference) in old where !reference.isNone { insert(hash, reference) }
    }
}
