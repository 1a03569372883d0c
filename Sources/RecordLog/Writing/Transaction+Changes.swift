extension Transaction {
    /// Calls `body` with each row of a table that this transaction has written or deleted so far, in the order of their numbers, and
    /// whether the number is new. `body` may read rows and write none.
    public func forEachChange<Failure: Error>(
        in table: TableID, _ body: (RowReference, _ isNew: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        guard let changes = changesSoFar(table) else { return }
        try changes.addresses.forEach { row, _ throws(Failure) in
            try body(RowReference(table: table, row: row), row >= changes.firstNew)
        }
    }
}
