import RecordLog

/// Rows by hashes of values that they have, or had: an open-addressing table with linear probing, 16 bytes a place.
///
/// Invariants:
/// 1. The number of places is 0 or a power of two, and a quarter of them is free, so that a search ends.
/// 2. A free place has the reference 0, which no row has.
struct RowsByHash {
    private var places: [(hash: UInt64, reference: RowReference)] = []
    private var count = 0
    /// Something of every place that `prepare` has read, so that it is.
    private var seen: UInt64 = 0

    /// Makes room for hashes, and reads where each of them would be, side by side.
    mutating func prepare(_ hashes: [UInt64]) {
        while (count + hashes.count) * 4 > places.count * 3 { grow() }
        for hash in hashes { seen ^= places[Int(truncatingIfNeeded: hash) & (places.count - 1)].hash }
    }

    mutating func insert(_ hash: UInt64, _ reference: RowReference) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        let (index, found) = search(hash) { $0 == reference }
        guard found == nil else { return }
        places[index] = (hash, reference)
        count += 1
    }

    func contains(_ hash: UInt64) -> Bool { first(hash) { _ in true } != nil }

    /// A row of those with this hash.
    func first(_ hash: UInt64, where isWanted: (RowReference) throws -> Bool) rethrows -> RowReference? {
        count == 0 ? nil : try search(hash, isWanted).found
    }

    /// Where a wanted row with this hash is, or the free place at which there is none.
    @inline(__always)
    private func search(_ hash: UInt64, _ isWanted: (RowReference) throws -> Bool) rethrows -> (place: Int, found: RowReference?) {
        var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        while !places[place].reference.isNone {
            let (known, reference) = places[place]
            if known == hash, try isWanted(reference) { return (place, reference) }
            place = (place + 1) & (places.count - 1)
        }
        return (place, nil)
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: (0, RowReference(rawValue: 0)), count: max(16, old.count * 2))
        count = 0
        for (hash, reference) in old where !reference.isNone { insert(hash, reference) }
    }
}
