import RecordLog

/// The table of a store's history. Each transaction is a row, and its number is the row's. Spec: docs/format/stack.md, "History".
///
/// Row numbers are assigned in ascending order under the writer's lock and never reused, as transaction numbers must be. Rows are in the
/// order of the transactions, so no index is needed.
package struct HistoryTable: Sendable {
    /// By position in the table's first layout, and so by column ID.
    package enum Field: Int, CaseIterable {
        case timestamp, author, contextName, processID, bundleID, changes

        fileprivate var name: String { "\(self)" }

        fileprivate var type: ColumnType {
            switch self {
            case .timestamp: .date
            case .author, .contextName, .processID, .bundleID: .text
            case .changes: .value
            }
        }
    }

    package let id: TableID
    /// The layout of new rows.
    package let layout: RowLayout
    private let layouts: [RowLayout]

    /// Finds the table in a catalog; nil where it has none.
    /// - Throws: where the table has columns that this version does not know.
    package init?(_ catalog: Catalog) throws {
        guard let definition = catalog.table(named: RecordLogNames.history) else { return nil }
        try self.init(definition)
    }

    private init(_ definition: TableDefinition) throws {
        for layout in definition.layouts {
            guard layout.columns.map(\.type).starts(with: Field.allCases.map(\.type)) else {
                throw CoreDataError.make(
                    NSPersistentStoreOperationError,
                    "The store has a history of a form that this version does not know; use the one that made it.")
            }
        }
        id = definition.id
        layout = definition.currentLayout
        layouts = definition.layouts
    }

    /// Creates the table.
    package static func define(in transaction: Transaction) throws -> HistoryTable {
        try HistoryTable(transaction.defineTable(name: RecordLogNames.history, columns: Field.allCases.map { ($0.name, $0.type) }))
    }

    func access(_ field: Field, of row: UnsafeRowView) -> ColumnAccess {
        let layout = Int(row.layoutID.rawValue)
        return layout < layouts.count ? layouts[layout].access[field.rawValue] : .absent
    }

    /// The time of a transaction, in seconds since 2001.
    func timestamp(of row: UnsafeRowView) -> Double { row.double(access(.timestamp, of: row)) }

    func text(_ field: Field, of row: UnsafeRowView) -> String? {
        let access = access(field, of: row)
        return access.isAbsent || row.isNull(access) ? nil : String(stored: row.bytes(access))
    }
}
