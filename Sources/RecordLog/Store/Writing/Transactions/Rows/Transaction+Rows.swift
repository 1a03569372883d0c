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
        let written = rowCount
        var editor = RowEditor(builder, table.currentLayout, of: table, in: self)
        try body(&editor)
        // The closure may have changed the same row by another update, so that other columns differ too.
        try put(reference, body: builder.unsafeBody(), changing: rowCount == written ? builder.changed : .all)
    }

    /// The row with this transaction's changes; nil if there is none. A later change of the row does not change it.
    /// - Throws: `corrupt`; the errors of writing, since a large value is written to the file before it is read.
    public func row(_ reference: RowReference) throws(StoreError) -> Row? {
        guard let row = try unsafeRow(reference) else { return nil }
        if let layout = catalog.table(reference.table)?.layout(row.layoutID) { try flushValues(of: row, layout) }
        guard let view = try unsafeRow(reference) else { return nil }
        return Row(copying: view, catalog, in: base.file)
    }

    /// Adds columns to a table. Older rows have null in them.
    /// - Throws: `schema` if the table does not exist, has a column of that name, or gets too large.
    /// - Returns: the table with its new layout.
    @discardableResult
    public func addColumns(_ columns: [(name: String, type: ColumnType)], to table: TableID) throws(StoreError) -> TableDefinition {
        guard let old = catalog.table(table) else { throw schema("there is no table \(table.rawValue)") }
        for (position, column) in columns.enumerated() {
            let earlier = old.currentLayout.columns.map(\.name) + columns[..<position].map(\.name)
            guard !earlier.contains(column.name) else { throw schema("the table \(old.name) has a column \(column.name) already") }
        }
        _ = try addLayout(
            to: table,
            columns: old.currentLayout.columns + columns.map { Column(id: ColumnID(rawValue: 0), name: $0.name, type: $0.type) })
        return catalog.table(table) ?? old
    }

    private func current(_ table: TableID, _ name: String) throws(RowError) -> TableDefinition {
        guard let current = catalog.table(table) else { throw RowError(.noSuchTable, "the store has no table \(name)") }
        return current
    }

    /// A row builder that no closure further out is using.
    private func takeBuilder() -> RowBuilder { spareBuilders.popLast() ?? RowBuilder() }

    private func keepBuilder(_ builder: RowBuilder) { spareBuilders.append(builder) }
}
