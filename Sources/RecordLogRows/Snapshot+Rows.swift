import RecordLog

extension Snapshot {
    /// The table of that name.
    /// - Throws: `noSuchTable`.
    public func table(named name: String) throws(RowError) -> TableDefinition { try catalog.existingTable(named: name) }

    /// The row as of this snapshot; nil if there is none.
    /// - Throws: `corrupt`.
    public func row(_ reference: RowReference) throws(StoreError) -> Row? { try unsafeRow(reference).flatMap { Row($0, in: self) } }

    /// The row at one of its versions, of this snapshot or an earlier one, even if it was deleted later.
    /// - Returns: nil if there was no such version, or a compaction has dropped it.
    /// - Throws: `corrupt`.
    public func row(_ reference: RowReference, version: UInt32) throws(StoreError) -> Row? {
        try unsafeRow(reference, version: version).flatMap { Row($0, in: self) }
    }

    /// The rows of a table, in the order of their numbers: that of their insertion. No row if the snapshot has no such table.
    public func rows(in table: TableDefinition) -> RowCursor { RowCursor(self, scanning: table.id) }

    /// The index of that name, for reading.
    /// - Throws: `noSuchIndex`.
    public func index(named name: String, on table: TableDefinition) throws(RowError) -> IndexQuery {
        guard let newest = catalog.table(table.id), let index = catalog.indexes(on: table.id).first(where: { $0.name == name }) else {
            throw RowError(.noSuchIndex, "the table \(table.name) has no index \(name)")
        }
        return IndexQuery(self, index, on: newest)
    }
}

extension Catalog {
    func existingTable(named name: String) throws(RowError) -> TableDefinition {
        guard let table = table(named: name) else { throw RowError(.noSuchTable, "the store has no table \(name)") }
        return table
    }
}
