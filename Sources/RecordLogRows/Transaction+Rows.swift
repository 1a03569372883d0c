import RecordLog

extension Transaction {
    /// The table of that name, with this transaction's changes.
    /// - Throws: `noSuchTable`.
    public func table(named name: String) throws(RowError) -> TableDefinition { try catalog.existingTable(named: name) }

    /// Inserts a row. If the closure throws, no row is inserted and the transaction can go on.
    /// - Parameter body: sets columns; those that it does not set are null.
    /// - Throws: `noSuchTable`, the error of `body`, and as `put` does.
    /// - Returns: the row's reference, which is its own for ever.
    @discardableResult
    public func insert(into table: TableDefinition, _ body: (inout RowEditor) throws -> Void) throws -> RowReference {
        let table = try current(table.id, table.name), builder = takeBuilder()
        defer { keepBuilder(builder) }
        builder.begin(table.currentLayout)
        var editor = RowEditor(builder, table.currentLayout, of: table, in: self)
        try body(&editor)
        let reference = RowReference(table: table.id, row: try newRow(in: table.id))
        try put(reference, body: builder.unsafeBody())
        return reference
    }

    /// Changes a row. If the closure throws, the row is unchanged and the transaction can go on.
    /// - Parameter body: sets columns; the others stay as they are.
    /// - Throws: `noSuchRow`, the error of `body`, and as `put` does.
    public func update(_ reference: RowReference, _ body: (inout RowEditor) throws -> Void) throws {
        let table = try current(reference.table, "\(reference.table.rawValue)"), builder = takeBuilder()
        defer { keepBuilder(builder) }
        guard let row = try unsafeRow(reference), let old = table.layout(row.layoutID) else {
            throw RowError(.noSuchRow, "the table \(table.name) has no row \(reference.row)")
        }
        builder.begin(table.currentLayout, copying: row, of: old)
        let written = writtenRows
        var editor = RowEditor(builder, table.currentLayout, of: table, in: self)
        try body(&editor)
        // The closure may have changed the same row by another update, so that other columns differ too.
        try put(reference, body: builder.unsafeBody(), changing: writtenRows == written ? builder.changed : .all)
    }

    /// The row with this transaction's changes; nil if there is none. A later change of the row does not change it.
    /// - Throws: `corrupt`; the errors of writing, since a large value is written to the file before it is read.
    public func row(_ reference: RowReference) throws(StoreError) -> Row? {
        guard let row = try unsafeRow(reference) else { return nil }
        if let layout = catalog.table(reference.table)?.layout(row.layoutID) { try flushValues(of: row, layout) }
        guard let view = try unsafeRow(reference) else { return nil }
        return Row(copying: view, catalog, in: base.file)
    }

    private func current(_ table: TableID, _ name: String) throws(RowError) -> TableDefinition {
        guard let current = catalog.table(table) else { throw RowError(.noSuchTable, "the store has no table \(name)") }
        return current
    }
}
