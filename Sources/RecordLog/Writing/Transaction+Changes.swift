extension Transaction {
    /// Calls `body` with each row of a table that this transaction has written or deleted so far, in the order of their numbers, and
    /// whether the number is new. `body` may read rows and write none.
    public func forEachChange<Failure: Error>(
        in table: TableID, _ body: (RowReference, _ isNew: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        guard let changes = changesSoFar(table) else { return }
        for row in changes.changedRows { try body(RowReference(table: table, row: row), false) }
        for (place, address) in changes.newAddresses.enumerated() where address != 0 {
            try body(RowReference(table: table, row: changes.firstNew + UInt64(place)), true)
        }
    }
}
