extension Transaction {
    /// Whether it has more index entries than it keeps in memory.
    package var hasSpilled: Bool { entries.hasSpilled }

    /// Calls `body` with the entries of an index that this transaction has added and not removed again, in key order, until it returns false.
    /// `body` may read rows and must not write any.
    /// - Complexity: O(entries of the index that this transaction has changed).
    package func forEachAddedEntry(
        of index: IndexID, _ body: (_ key: UnsafeRawBufferPointer, _ row: UInt64) throws -> Bool
    ) throws {
        let merged = try entries.runs(of: Int(index.rawValue)).merged()
        while try merged.next(), try body(IndexEntry.key(of: merged.entry), IndexEntry.row(of: merged.entry)) {}
    }

    /// Calls `body` with each row of a table that this transaction has written or deleted so far, in order of row numbers, and whether the
    /// number is new. `body` may read rows and must not write any.
    public func forEachChange<Failure: Error>(
        in table: TableID, _ body: (RowReference, _ isNew: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        try forEachChange(in: table) { reference, isNew, _ throws(Failure) in try body(reference, isNew) }
    }

    /// As the public method; `body` also gets whether the row is deleted. It may write values and must not write rows.
    package func forEachChange<Failure: Error>(
        in table: TableID, _ body: (RowReference, _ isNew: Bool, _ isDeleted: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        guard let changes = changesSoFar(table) else { return }
        try changes.addresses.forEach { row, address throws(Failure) in
            try body(RowReference(table: table, row: row), row >= changes.firstNew, address & PrimaryDelta.tombstoneBit != 0)
        }
    }
}
