/// The rows that two snapshots do not have alike, of a table in each of them. The snapshots are of one store, or of a store and a copy of it, so
/// row numbers mean the same.
package struct TableDifference {
    private let old: Snapshot
    private let new: Snapshot
    /// nil where the state has no such table.
    private let oldTable: TableID?
    private let newTable: TableID?
    /// Whether equal addresses are of one record.
    private let isOneFile: Bool

    package init(from old: Snapshot, _ oldTable: TableID?, to new: Snapshot, _ newTable: TableID?) {
        (self.old, self.oldTable, self.new, self.newTable) = (old, oldTable, new, newTable)
        isOneFile = oldTable == newTable && old.file.identity == new.file.identity && old.file.storage.identity == new.file.storage.identity
            && old.file.path == new.file.path
    }

    /// Calls `body` with each row that may differ, in the order of row numbers; nil stands for no row.
    /// - Parameter isWanted: whether to call `body` with a row also where both snapshots have it alike.
    /// - Complexity: O(row numbers) looks at the primary indexes. Of one file only the differing rows are read, of two files all rows.
    package func forEach(
        _ isWanted: (UInt64) -> Bool = { _ in false }, _ body: (UInt64, _ old: UnsafeRowView?, _ new: UnsafeRowView?) throws -> Void
    ) throws {
        let limit = max(oldTable.map(old.rowLimit) ?? 0, newTable.map(new.rowLimit) ?? 0)
        var start: UInt64 = 0
        while start < limit {
            let page = start..<start + PrimaryBase.rowsPerPage
            if hasRows(old, oldTable, page) || hasRows(new, newTable, page) {
                for row in max(1, page.lowerBound)..<min(limit, page.upperBound) { try compare(row, isWanted, body) }
            }
            start = page.upperBound
        }
    }

    private func hasRows(_ snapshot: Snapshot, _ table: TableID?, _ rows: Range<UInt64>) -> Bool {
        table.map { snapshot.mayHaveRows($0, in: rows) } ?? false
    }

    private func compare(
        _ row: UInt64, _ isWanted: (UInt64) -> Bool, _ body: (UInt64, UnsafeRowView?, UnsafeRowView?) throws -> Void
    ) throws {
        let before = try address(row, oldTable, old), after = try address(row, newTable, new)
        guard before != 0 || after != 0, !isOneFile || before != after || isWanted(row) else { return }
        let oldRow = try view(before, row, oldTable, old), newRow = try view(after, row, newTable, new)
        if !isOneFile, let oldRow, let newRow, isAlike(oldRow, newRow), !isWanted(row) { return }
        try body(row, oldRow, newRow)
    }

    private func address(_ row: UInt64, _ table: TableID?, _ snapshot: Snapshot) throws -> UInt64 {
        try table.flatMap { table throws(StoreError) in try snapshot.address(of: RowReference(table: table, row: row)) } ?? 0
    }

    private func view(_ address: UInt64, _ row: UInt64, _ table: TableID?, _ snapshot: Snapshot) throws -> UnsafeRowView? {
        guard address != 0, let table else { return nil }
        return try snapshot.view(at: address, RowReference(table: table, row: row))
    }

    /// Whether the bytes of both rows mean the same and are equal.
    private func isAlike(_ a: UnsafeRowView, _ b: UnsafeRowView) -> Bool {
        guard a.byteCount == b.byteCount, a.layoutID == b.layoutID, let oldTable, let newTable,
            let one = old.catalog.table(oldTable)?.layout(a.layoutID), let other = new.catalog.table(newTable)?.layout(b.layoutID),
            one.columns.elementsEqual(other.columns, by: { $0.id == $1.id && $0.type == $1.type })
        else { return false }
        return KeyBytes.areEqual(a.body, b.body, a.byteCount)
    }
}
