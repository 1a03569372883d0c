extension Transaction {
    /// Creates a table with one layout.
    /// - Throws: `schema` if the name is taken or there are too many columns or tables.
    public func defineTable(name: String, columns: [(name: String, type: ColumnType)]) throws(StoreError) -> TableDefinition {
        guard catalog.table(named: name) == nil else { throw schema("the store has a table \(name) already") }
        guard columns.count <= RowLayout.columnsMax, catalog.nextTable < UInt16.max, catalog.layoutCount < Catalog.layoutsMax
        else { throw schema("the table \(name) is too large") }
        let list = columns.enumerated().map { Column(id: ColumnID(rawValue: UInt16($0.offset + 1)), name: $0.element.name, type: $0.element.type) }
        let table = TableDefinition(
            id: TableID(rawValue: catalog.nextTable), name: name,
            layouts: TableDefinition.layouts([list]), nextColumn: UInt16(columns.count + 1))
        try setCatalog(Catalog(
            tables: catalog.tables + [table], indexes: catalog.indexes, nextTable: catalog.nextTable + 1, nextIndex: catalog.nextIndex))
        return table
    }

    /// Gives a table a new layout for future rows; older rows keep theirs.
    /// - Throws: `schema` if the table does not exist, is too large, or has an index over a column that becomes a `value`.
    /// - Parameter columns: a column with an ID is the table's own and is carried over. An ID of 0 asks for a new column.
    public func addLayout(to table: TableID, columns: [Column]) throws(StoreError) -> RowLayout {
        try addLayout(to: table, columns: columns, defaults: nil)
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

    /// As `addLayout(to:columns:)`, and states values that rows of older layouts have in columns that they lack or in which they are null. No row
    /// is written for that. Rows of this and of newer layouts may be null in these columns.
    /// - Parameter defaults: the body of a row with these columns and no others; its columns that are not null are the defaults.
    /// - Throws: also `schema` for a default that has to be in the rows (`canState`), and for a column that an index has as a part: its entries are
    ///   those of the rows as they were. An index of a client's extractor over such a column must be dropped by the same transaction.
    package func addLayout(
        to table: TableID, columns: [Column], defaults: UnsafeRawBufferPointer?
    ) throws(StoreError) -> RowLayout {
        guard let old = catalog.table(table) else { throw schema("there is no table \(table.rawValue)") }
        guard columns.count <= RowLayout.columnsMax, old.layouts.count < RowLayout.layoutsMax, catalog.layoutCount < Catalog.layoutsMax,
            Int(old.nextColumn) + columns.count <= Int(UInt16.max)
        else { throw schema("the table \(old.name) is too large") }
        var next = old.nextColumn
        let list = columns.map { column in
            guard column.id.rawValue == 0 else { return column }
            defer { next += 1 }
            return Column(id: ColumnID(rawValue: next), name: column.name, type: column.type)
        }
        let stated = try defaults.map { body throws(StoreError) in try self.defaults(body, list, of: old) } ?? []
        let layouts = TableDefinition.layouts(old.layouts.map(\.columns) + [list], defaults: old.layouts.map(\.stated) + [stated])
        let new = TableDefinition(id: old.id, name: old.name, layouts: layouts, nextColumn: next)
        guard stated.isEmpty || catalog.defaultCost - old.defaultCost + new.defaultCost <= Catalog.defaultCostMax else {
            throw schema("the layouts of the table \(old.name) have too many defaults")
        }
        for index in catalog.indexes(on: table) { try check(index.parts, against: new.currentLayout) }
        try replace([new])
        return new.currentLayout
    }

    /// Whether a new layout of a table can state so many defaults more.
    package func canState(_ count: Int, in table: TableID) -> Bool {
        guard let old = catalog.table(table) else { return false }
        let stated = old.layouts.reduce(count) { $0 + $1.stated.count }
        return catalog.defaultCost - old.defaultCost + (old.layouts.count + 1) * stated <= Catalog.defaultCostMax
    }

    /// The values of a row that are not null, as defaults of columns.
    private func defaults(_ body: UnsafeRawBufferPointer, _ columns: [Column], of table: TableDefinition) throws(StoreError) -> [ColumnDefault] {
        let layout = RowLayout(id: LayoutID(rawValue: 0), columns: columns)
        guard layout.fits(body), let start = body.baseAddress else { throw schema("the defaults of the table \(table.name) are no row of it") }
        let row = UnsafeRowView(body: start, byteCount: body.count, reference: RowReference(rawValue: 0), version: 0)
        let indexes = catalog.indexes(on: table.id)
        var defaults: [ColumnDefault] = []
        for (column, access) in zip(columns, layout.access) where !row.isNull(access) {
            let bytes = column.type.slotSize.map { UnsafeRawBufferPointer(start: row.slot(access), count: $0) } ?? row.bytes(access)
            guard let value = ColumnDefault(column: column.id, type: column.type, bytes: Array(bytes)) else {
                throw schema("a layout cannot state the default of the column \(column.name)")
            }
            guard !indexes.contains(where: { $0.parts.contains { $0.column == column.id } }) else {
                throw schema("the column \(column.name) gets a default and has an index")
            }
            defaults.append(value)
        }
        return defaults
    }

    /// Gives tables and their columns other names. Writes no row, since a row refers to its table and columns by their IDs.
    /// - Parameter names: new names by table. Tables not listed keep their names, and so do columns not listed in `columns`.
    /// - Throws: `schema` if a table does not exist, or two would have one name.
    public func rename(
        tables names: [TableID: String], columns: [TableID: [ColumnID: String]] = [:]
    ) throws(StoreError) {
        var renamed: [TableDefinition] = []
        for id in Set(names.keys).union(columns.keys) {
            guard let table = catalog.table(id) else { throw schema("there is no table \(id.rawValue)") }
            renamed.append(table.renamed(names[id] ?? table.name, columns: columns[id] ?? [:]))
        }
        var taken: Set<String> = []
        for table in catalog.tables {
            let name = names[table.id] ?? table.name
            guard taken.insert(name).inserted else { throw schema("two tables would be named \(name)") }
        }
        try replace(renamed)
    }

    private func replace(_ tables: [TableDefinition]) throws(StoreError) {
        try setCatalog(Catalog(
            tables: catalog.tables.map { table in tables.first { $0.id == table.id } ?? table }, indexes: catalog.indexes,
            nextTable: catalog.nextTable, nextIndex: catalog.nextIndex))
    }

    /// Gives indexes other names. Their entries stay.
    /// - Throws: `schema` if an index does not exist, or two of one table would have one name.
    public func rename(indexes names: [IndexID: String]) throws(StoreError) { try rename(indexes: names, extractors: [:]) }

    /// As `rename(indexes:)`, and names other extractors.
    /// - Parameter extractors: by index; each makes the same keys of the table's rows as the index's extractor did, as one does that names columns
    ///   by names that they have now.
    /// - Throws: also `schema` for an index over columns, and for an extractor that is not registered, or makes terms where the other made keys.
    package func rename(indexes names: [IndexID: String], extractors: [IndexID: String]) throws(StoreError) {
        for id in Set(names.keys).union(extractors.keys) where catalog.index(id) == nil { throw schema("there is no index \(id.rawValue)") }
        for id in extractors.keys where catalog.index(id)?.extractorName == nil { throw schema("the index \(id.rawValue) has no extractor") }
        let renamed = catalog.indexes.map { index in
            IndexDefinition(
                id: index.id, table: index.table, name: names[index.id] ?? index.name, parts: index.parts,
                extractorName: extractors[index.id] ?? index.extractorName)
        }
        for index in renamed where extractors[index.id] != nil {
            guard index.hasTerms == catalog.index(index.id)?.hasTerms else { throw schema("the index \(index.name) would have other entries") }
            _ = try checkedMaintainer(of: index)
        }
        var taken: [TableID: Set<String>] = [:]
        for index in renamed where !taken[index.table, default: []].insert(index.name).inserted {
            throw schema("two indexes of one table would be named \(index.name)")
        }
        try setCatalog(Catalog(tables: catalog.tables, indexes: renamed, nextTable: catalog.nextTable, nextIndex: catalog.nextIndex))
    }

    /// Creates an index over a table, with the entries of its existing rows.
    /// - Throws: `schema` if the table has an index of that name, a part is a `value` column, or this transaction has already changed rows of
    ///   the table.
    /// - Complexity: O(rows of the table).
    public func defineIndex(
        named name: String, on table: TableID, parts: [IndexPart], extractorName: String? = nil
    ) throws(StoreError) -> IndexID {
        let (definition, maintainer) = try define(name, on: table, parts, extractorName)
        let layouts = catalog.table(table)
        try wholly { () throws(StoreError) in
            try base.scanRows(table) { row throws(StoreError) in
                guard let layout = layouts?.layout(row.layoutID) else { return true }
                if maintainer.hasTerms {
                    try addTerms(maintainer, of: row, layout, row.reference.row, isTombstone: false)
                    return true
                }
                newKey.removeAll()
                if maintainer.appendKey(of: row, layout: layout, to: newKey) {
                    try add(newKey, row: row.reference.row, to: definition.id, isTombstone: false)
                }
                return true
            }
        }
        return definition.id
    }

    /// Creates an index whose entries were built before.
    /// - Parameters:
    ///   - wanted: its number plays no part.
    ///   - runs: the entries of the table's rows as of `base`.
    /// - Throws: as `defineIndex(named:on:parts:extractorName:)`.
    func defineIndex(_ wanted: IndexDefinition, with runs: RunSet) throws(StoreError) -> IndexID {
        let definition = try define(wanted.name, on: wanted.table, wanted.parts, wanted.extractorName).definition
        builtIndexes[definition.id] = runs
        return definition.id
    }

    /// Puts an index without entries into the catalog.
    private func define(
        _ name: String, on table: TableID, _ parts: [IndexPart], _ extractorName: String?
    ) throws(StoreError) -> (definition: IndexDefinition, maintainer: IndexMaintainer) {
        guard catalog.table(table) != nil else { throw schema("there is no table \(table.rawValue)") }
        guard !catalog.indexes(on: table).contains(where: { $0.name == name }) else {
            throw schema("the table has an index \(name) already")
        }
        guard catalog.nextIndex < UInt16.max else { throw schema("the store has too many indexes") }
        for layout in catalog.table(table)?.layouts ?? [] { try check(parts, against: layout) }
        if let changes = changesSoFar(table), !changes.addresses.isEmpty {
            throw schema("an index is defined before the same transaction changes its table's rows")
        }
        let definition = IndexDefinition(
            id: IndexID(rawValue: catalog.nextIndex), table: table, name: name, parts: parts, extractorName: extractorName)
        let maintainer = try checkedMaintainer(of: definition)
        try setCatalog(Catalog(
            tables: catalog.tables, indexes: catalog.indexes + [definition], nextTable: catalog.nextTable,
            nextIndex: catalog.nextIndex + 1))
        return (definition, maintainer)
    }

    private func checkedMaintainer(of definition: IndexDefinition) throws(StoreError) -> IndexMaintainer {
        let maintainer = try maintainer(of: definition), name = definition.extractorName ?? ""
        guard maintainer.hasTerms == definition.hasTerms else {
            throw schema("the extractor \(name) makes terms without the name of one, or has the name and makes none")
        }
        return maintainer
    }

    /// Removes an index. Its number is not used again.
    /// - Throws: `schema` if it does not exist.
    public func dropIndex(_ index: IndexID) throws(StoreError) {
        guard catalog.index(index) != nil else { throw schema("there is no index \(index.rawValue)") }
        try setCatalog(Catalog(
            tables: catalog.tables, indexes: catalog.indexes.filter { $0.id != index }, nextTable: catalog.nextTable,
            nextIndex: catalog.nextIndex))
        entries.remove(Int(index.rawValue))
        builtIndexes[index] = nil
    }

    /// Removes a table with its rows and indexes. Its number is not used again. Older snapshots keep it, and the next compaction frees its
    /// space.
    /// - Throws: `schema` if it does not exist.
    public func dropTable(_ table: TableID) throws(StoreError) {
        guard catalog.table(table) != nil else { throw schema("there is no table \(table.rawValue)") }
        for index in catalog.indexes(on: table) { try dropIndex(index.id) }
        try setCatalog(Catalog(
            tables: catalog.tables.filter { $0.id != table }, indexes: catalog.indexes, nextTable: catalog.nextTable,
            nextIndex: catalog.nextIndex))
        tables[Int(table.rawValue)] = nil
    }

    /// A value may be longer than memory, so its column has no keys.
    private func check(_ parts: [IndexPart], against layout: RowLayout) throws(StoreError) {
        for position in layout.valuePositions where parts.contains(where: { $0.column == layout.columns[position].id }) {
            throw schema("no index is over the column \(layout.columns[position].name), which holds large values")
        }
    }

    func schema(_ message: String) -> StoreError {
        StoreError(.schema, path: base.file.path, message, remedy: "Look at the store's catalog before changing it.")
    }
}
