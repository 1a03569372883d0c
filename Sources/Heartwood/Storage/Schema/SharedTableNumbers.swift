import RecordLog

/// The numbers that rows of a record log get in tables that have the rows of several entities.
///
/// (1) A row keeps its number if no other row of the shared table has it. Then the URIs of objects stay.
/// (2) Otherwise the rows of the table's second entity come behind all numbers of the first, and so on. So a number is the row's own and a constant of
///     its entity, and needs no list.
package struct SharedTableNumbers {
    /// By table of the log: the constant that is added to a row's number.
    private let offsets: [Int64]
    /// By shared table: the greatest number that was given out; `Int64.max` where there is no room for them.
    package let maxima: [Int64]
    /// By shared table: whether its rows have other numbers than before.
    package let areRenumbered: [Bool]

    /// - Parameter tables: the entities' tables, by shared table.
    package init(_ tables: [[EntityTable]], _ snapshot: Snapshot) throws {
        let count = tables.joined().map { Int($0.id.rawValue) + 1 }.max() ?? 0
        var offsets = [Int64](repeating: 0, count: count), maxima: [Int64] = [], areRenumbered: [Bool] = []
        for list in tables {
            let isShared = try Self.shareNumbers(list, snapshot)
            var greatest: Int64 = 0
            for table in list {
                let last = Int64(clamping: max(snapshot.rowLimit(table.id), 1) - 1)
                offsets[Int(table.id.rawValue)] = isShared ? greatest : 0
                let (sum, isOver) = greatest.addingReportingOverflow(last)
                greatest = isShared ? (isOver ? .max : sum) : max(greatest, last)
            }
            maxima.append(greatest)
            areRenumbered.append(isShared)
        }
        (self.offsets, self.maxima, self.areRenumbered) = (offsets, maxima, areRenumbered)
    }

    private static func shareNumbers(_ tables: [EntityTable], _ snapshot: Snapshot) throws -> Bool {
        guard tables.count > 1 else { return false }
        var rows = MergedRows(tables.map(\.id), snapshot) { Int64($0.row) }, last: Int64 = 0
        while let row = try rows.next() {
            if row.key == last { return true }
            last = row.key
        }
        return false
    }

    package func number(_ reference: RowReference) -> Int64 {
        let table = Int(reference.table.rawValue)
        return Int64(reference.row) &+ (table < offsets.count ? offsets[table] : 0)
    }
}
