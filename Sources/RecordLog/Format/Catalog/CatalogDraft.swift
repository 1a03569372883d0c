/// Tables and indexes that no store has: for rows in a record log's form that come from elsewhere.
package final class CatalogDraft {
    package private(set) var catalog = Catalog.empty

    private let path: String

    /// - Parameter path: the file that has the rows, for errors.
    package init(path: String) { self.path = path }

    /// - Throws: `schema` if the table is there, or is too large.
    package func defineTable(name: String, columns: [(name: String, type: ColumnType)]) throws(StoreError) -> TableDefinition {
        guard catalog.table(named: name) == nil else { throw schema("the model needs the table \(name) twice") }
        guard columns.count <= RowLayout.columnsMax, catalog.nextTable < UInt16.max else { throw schema("the table \(name) is too large") }
        let list = columns.enumerated().map { Column(id: ColumnID(rawValue: UInt16($0.offset + 1)), name: $0.element.name, type: $0.element.type) }
        let table = TableDefinition(
            id: TableID(rawValue: catalog.nextTable), name: name, layouts: TableDefinition.layouts([list]), nextColumn: UInt16(columns.count + 1))
        catalog = Catalog(
            tables: catalog.tables + [table], indexes: catalog.indexes, nextTable: catalog.nextTable + 1, nextIndex: catalog.nextIndex)
        return table
    }

    /// - Throws: `schema` if there are too many indexes.
    package func defineIndex(
        named name: String, on table: TableID, parts: [IndexPart], extractorName: String?
    ) throws(StoreError) -> IndexID {
        guard catalog.nextIndex < UInt16.max else { throw schema("the model needs too many indexes") }
        let index = IndexDefinition(
            id: IndexID(rawValue: catalog.nextIndex), table: table, name: name, parts: parts, extractorName: extractorName)
        catalog = Catalog(
            tables: catalog.tables, indexes: catalog.indexes + [index], nextTable: catalog.nextTable, nextIndex: catalog.nextIndex + 1)
        return index.id
    }

    private func schema(_ message: String) -> StoreError {
        StoreError(.schema, path: path, message, remedy: "Correct the program's model.")
    }
}
