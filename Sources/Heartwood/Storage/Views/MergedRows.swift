import RecordLog

/// The rows of several tables of one commit, by rising keys.
package struct MergedRows {
    /// The rows of one table, some at a time: their bytes stay valid as long as the snapshot is held.
    private struct Scan {
        let table: TableID
        var rows: [UnsafeRowView] = []
        var index = 0
        var from: UInt64 = 1

        mutating func refill(_ snapshot: Snapshot) throws {
            rows.removeAll(keepingCapacity: true)
            index = 0
            var found = rows
            try snapshot.scan(table, from: from) { row in
                found.append(row)
                return found.count < MergedRows.batchSize
            }
            rows = found
            from = rows.last.map { $0.reference.row + 1 } ?? .max
        }
    }

    private static let batchSize = 256
    private let snapshot: Snapshot
    private let key: (RowReference) -> Int64
    private var scans: [Scan]

    package init(_ tables: [TableID], _ snapshot: Snapshot, key: @escaping (RowReference) -> Int64) {
        self.snapshot = snapshot
        self.key = key
        scans = tables.map { Scan(table: $0) }
    }

    /// - Returns: the row, its key, and the index of its table in the list; nil at the end.
    package mutating func next() throws -> (row: UnsafeRowView, key: Int64, table: Int)? {
        var best: Int?, least = Int64.max
        for index in scans.indices {
            if scans[index].index == scans[index].rows.count, scans[index].from != .max { try scans[index].refill(snapshot) }
            guard scans[index].index < scans[index].rows.count else { continue }
            let key = key(scans[index].rows[scans[index].index].reference)
            if best == nil || key < least { (best, least) = (index, key) }
        }
        guard let best else { return nil }
        let row = scans[best].rows[scans[best].index]
        scans[best].index += 1
        return (row, least, best)
    }
}
