import RecordLog

/// The table of a store's history: a row for each transaction, whose number is the row's. Spec: FORMAT.md, "History".
///
/// Row numbers are given in turn and never again, under the writer's lock, so they are what transaction numbers must be; and the order
/// of rows is the order of the transactions, so no index is needed.
struct HistoryTable: Sendable {
    /// By their places in the table's first layout, and so by their IDs.
    enum Field: Int, CaseIterable {
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

    let id: TableID
    /// Of the rows to come.
    let layout: RowLayout
    private let layouts: [RowLayout]

    /// The table, in a catalog that has one.
    /// - Throws: where there is a table of the name and of another form.
    init?(_ catalog: Catalog) throws {
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

    /// Makes the table.
    static func define(in transaction: Transaction) throws -> HistoryTable {
        try HistoryTable(transaction.defineTable(name: RecordLogNames.history, columns: Field.allCases.map { ($0.name, $0.type) }))
    }

    func access(_ field: Field, of row: RowView) -> ColumnAccess {
        let layout = Int(row.layoutID.rawValue)
        return layout < layouts.count ? layouts[layout].access[field.rawValue] : .absent
    }

    /// When a transaction was.
    func timestamp(of row: RowView) -> Double { row.double(access(.timestamp, of: row)) }

    func text(_ field: Field, of row: RowView) -> String? {
        let access = access(field, of: row)
        return access.isAbsent || row.isNull(access) ? nil : String(decoding: row.bytes(access), as: UTF8.self)
    }
}
