/// The newest record of each row that a salvage has found. Takes 16 bytes a row, and up to half as much again while it collects.
///
/// Invariant: records are added in the order of their commits, which is the order of their addresses. So of two records of a row the one at
/// the higher address is the newer.
struct SalvagedRows {
    struct Entry {
        let reference: RowReference
        /// The record's address with the flags of this type; 0 for a row that was dropped again.
        var word: UInt64

        var address: UInt64 { word & SalvagedRows.addressMask }
        var isDeletion: Bool { word & SalvagedRows.deletionBit != 0 }
        /// Whether a part of its commit is lost.
        var isOfIncompleteCommit: Bool { word & SalvagedRows.incompleteBit != 0 }
    }

    static let deletionBit: UInt64 = 1 << 63
    static let incompleteBit: UInt64 = 1 << 62
    static let addressMask = incompleteBit - 1
    private static let thresholdMin = 4096

    /// Sorted by reference, one for each row, once `sort` was called.
    private(set) var entries: [Entry] = []
    private var threshold = SalvagedRows.thresholdMin

    mutating func add(_ record: RowRecord, at address: UInt64, isOfIncompleteCommit: Bool) {
        if entries.count == threshold {
            sort()
            threshold = max(Self.thresholdMin, entries.count + entries.count / 2)
            entries.reserveCapacity(threshold)
        }
        let flags = (record.operation == .delete ? Self.deletionBit : 0) | (isOfIncompleteCommit ? Self.incompleteBit : 0)
        entries.append(Entry(reference: record.reference, word: address | flags))
    }

    /// Sorts by row, and drops older records. O(n log n), and about O(n) if rows came in order.
    mutating func sort() {
        entries.sort { a, b in
            a.reference == b.reference ? a.address < b.address : a.reference.rawValue < b.reference.rawValue
        }
        var kept = 0
        for index in entries.indices {
            if index + 1 < entries.count, entries[index + 1].reference == entries[index].reference { continue }
            entries[kept] = entries[index]
            kept += 1
        }
        entries.removeLast(entries.count - kept)
    }

    /// The index of the first entry not before `reference`. O(log n). For sorted entries only.
    func index(of reference: RowReference) -> Int {
        var low = 0, high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].reference.rawValue < reference.rawValue { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The indices of a table's entries.
    func range(of table: TableID) -> Range<Int> {
        let start = index(of: RowReference(table: table, row: 0))
        guard table.rawValue < UInt16.max else { return start..<entries.count }
        return start..<index(of: RowReference(table: TableID(rawValue: table.rawValue + 1), row: 0))
    }

    func entry(_ reference: RowReference) -> Entry? {
        let index = index(of: reference)
        return index < entries.count && entries[index].reference == reference ? entries[index] : nil
    }

    mutating func set(_ index: Int, address: UInt64) { entries[index].word = address }
}
