extension Transaction {
    /// Calls `body` with each row of a table that this transaction has written or deleted so far, in the order of their numbers, and
    /// whether the number is new. `body` may read rows and write none.
    public func forEachChange<Failure: Error>(
        in table: TableID, _ body: (RowReference, _ isNew: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        let index = Int(table.rawValue)
        guard index < tables.count, let changes = tables[index] else { return }
        var older: [UInt64] = []
        older.reserveCapacity(changes.changed.count)
        changes.changed.forEach { row, _ in older.append(row) }
        older.sort()
        for row in older { try body(RowReference(table: table, row: row), false) }
        for (place, address) in changes.newAddresses.enumerated() where address != 0 {
            try body(RowReference(table: table, row: changes.firstNew + UInt64(place)), true)
        }
    }
}
