import RecordLog

/// Returns the row numbers of an index scan.
///
/// In an ordered scan, rows that are equal in the order come by row number, as after a sort. So limit and offset select the same rows
/// whichever plan is used.
final class IndexScanner {
    private let snapshot: Snapshot
    private let scan: IndexScan
    private let isDescending: Bool
    private var rangesLeft: ArraySlice<KeyRange>
    private var cursor: IndexCursor?
    /// The types and directions of the parts that make up the order; empty where no groups are collected.
    private let parts: [(type: ColumnType, isDescending: Bool)]
    /// The parts' ends in the last key that was read.
    private var ends: [Int]
    /// The components that a merge compares; empty without a merge.
    private let compared: [IndexScan.Order.Component]
    /// Whether rows that are equal in the order must be collected and sorted.
    private let sortsTies: Bool
    private var ties: [UInt64] = []
    private var position = 0
    private var ahead: UInt64?
    private var keyBytes: [UInt8] = []

    /// - Parameter isMerged: whether the caller reads `key`.
    init(_ scan: IndexScan, _ table: EntityTable, _ snapshot: Snapshot, isMerged: Bool = false) {
        self.snapshot = snapshot
        self.scan = scan
        isDescending = scan.order?.isDescending ?? false
        rangesLeft = (isDescending ? scan.ranges.reversed() : scan.ranges)[...]
        compared = isMerged ? scan.order?.key ?? [] : []
        sortsTies = isMerged && scan.order != nil || Self.sortsTies(scan)
        parts = !sortsTies ? [] : scan.index.parts.prefix(scan.order?.partCount ?? 0).map { part in
            (part.key.columnType(table.runtime), !part.isAscending)
        }
        ends = Array(repeating: 0, count: parts.count)
    }

    /// Whether a scan must sort rows that are equal in its order by number.
    static func sortsTies(_ scan: IndexScan) -> Bool {
        guard let order = scan.order else { return false }
        return order.isDescending || order.partCount < scan.index.parts.count
    }

    /// The sort key of the last returned row.
    private(set) var key: [UInt8] = []

    /// Returns the next row's number; nil at the end.
    func next() throws -> UInt64? {
        guard sortsTies else { return try step() }
        if position < ties.count {
            position += 1
            return ties[position - 1]
        }
        guard let first = try ahead ?? step() else { return nil }
        ahead = nil
        ties.removeAll(keepingCapacity: true)
        ties.append(first)
        let bytes = try ordered()
        keyBytes.removeAll(keepingCapacity: true)
        keyBytes.append(contentsOf: bytes)
        if !compared.isEmpty { takeKey() }
        while let row = try step() {
            let other = try ordered()
            let isSame = keyBytes.withUnsafeBytes { KeyBytes.compare($0, other) == 0 }
            guard isSame else {
                ahead = row
                break
            }
            ties.append(row)
        }
        if ties.count > 1 { ties.sort() }
        position = 1
        return ties[0]
    }

    private func step() throws -> UInt64? {
        while true {
            if let row = try cursor?.next() { return row }
            guard let range = rangesLeft.popFirst() else { return nil }
            cursor = try snapshot.cursor(scan.index.id, range, descending: isDescending)
        }
    }

    /// Builds the sort key from the key that was read last.
    private func takeKey() {
        key.removeAll(keepingCapacity: true)
        for component in compared {
            switch component {
            case .part(let index): key.append(contentsOf: keyBytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]])
            case .constant(let bytes): key.append(contentsOf: bytes)
            }
        }
    }

    /// Returns the current key up to the end of the order.
    private func ordered() throws -> UnsafeRawBufferPointer {
        let key = cursor?.unsafeKey ?? UnsafeRawBufferPointer(start: nil, count: 0)
        var end = 0
        for (position, part) in parts.enumerated() {
            guard let next = KeyBuilder.componentEnd(at: end, in: key, part.type, descending: part.isDescending) else {
                throw StoreError.damagedIndex(scan.index.name)
            }
            end = next
            ends[position] = end
        }
        return UnsafeRawBufferPointer(rebasing: key[..<end])
    }
}

extension StoreError {
    fileprivate static func damagedIndex(_ name: String) -> StoreError {
        StoreError(
            .corrupt, path: "", "an entry of the index \(name) is malformed",
            remedy: "No row is lost by it: `heartwood compact` makes the indexes anew from the log.")
    }
}

/// Merges several scans that have the same order.
struct MergedScan {
    private var scanners: [(scanner: IndexScanner, row: UInt64?)]
    private let tables: [TableID]
    private let isDescending: Bool

    /// - Parameter scans: scans with the same order and direction. Rows of earlier scans come first among equals.
    init(_ scans: [(scan: IndexScan, table: EntityTable)], _ snapshot: Snapshot) throws {
        isDescending = scans.first?.scan.order?.isDescending ?? false
        tables = scans.map(\.table.id)
        scanners = try scans.map { scan, table in
            let scanner = IndexScanner(scan, table, snapshot, isMerged: scans.count > 1)
            return (scanner, try scanner.next())
        }
    }

    /// Returns the next row and the index of its scan; nil at the end.
    mutating func next() throws -> (part: Int, row: RowReference)? {
        var best: Int?
        for index in scanners.indices where scanners[index].row != nil {
            guard let known = best else {
                best = index
                continue
            }
            let mine = scanners[index].scanner.key, other = scanners[known].scanner.key
            if isDescending ? other.lexicographicallyPrecedes(mine) : mine.lexicographicallyPrecedes(other) { best = index }
        }
        guard let best, let row = scanners[best].row else { return nil }
        scanners[best].row = try scanners[best].scanner.next()
        return (best, RowReference(table: tables[best], row: row))
    }
}
