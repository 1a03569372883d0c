import RecordLog

/// Finds a table's column in rows of every layout.
struct ColumnLocator: Hashable, Sendable {
    let table: TableID
    let id: ColumnID
    /// The names when the locator was made, for errors.
    let tableName: String
    let name: String
    /// The column's position by layout ID, of the layouts that the table had when the locator was made; -1 where the layout lacks the column.
    private let positions: [Int16]

    init(_ column: Column, of table: TableDefinition) {
        self.table = table.id
        id = column.id
        tableName = table.name
        name = column.name
        positions = table.layouts.map { $0.position(of: column.id).map(Int16.init) ?? -1 }
    }

    /// The column's position in rows of a layout; nil if the layout lacks it. The locator may be older than the layout, or another store's.
    func position(in layout: RowLayout) -> Int? {
        let number = Int(layout.id.rawValue)
        if number < positions.count {
            let position = Int(positions[number])
            if layout.columns.indices.contains(position), layout.columns[position].id == id { return position }
        }
        return layout.position(of: id)
    }

    func check(isOf other: TableDefinition) throws(RowError) {
        guard table == other.id else {
            throw RowError(.otherTable, "the column \(name) belongs to the table \(tableName), the row to \(other.name)")
        }
    }

    func check<Value: ColumnValue>(_ type: ColumnType, holds value: Value.Type) throws(RowError) {
        guard Value.isStored(inColumnOf: type) else {
            throw RowError(.typeDiffers, "the column \(name) of the table \(tableName) is of the type \(type), and \(Value.self) is not")
        }
    }

    var nullRefused: RowError {
        RowError(.isNull, "the column \(name) of the table \(tableName) is null, and the value's type has no null; ask for an optional")
    }

    func doesNotFit<Value>(_ value: Value.Type) -> RowError {
        RowError(.doesNotFit, "the value of the column \(name) of the table \(tableName) does not fit, as \(Value.self)")
    }

    /// The access to the column in rows of a layout; absent if the layout lacks it and no newer one states a default.
    @inline(__always)
    private func access(in layout: RowLayout) -> ColumnAccess {
        let number = Int(layout.id.rawValue)
        if number < positions.count {
            let position = Int(positions[number])
            if layout.columns.indices.contains(position), layout.columns[position].id == id { return layout.readingAccess(position) }
        }
        return layout.access(of: id)
    }

    /// Reads the column. Rows of a layout that lacks it have its default, or null.
    func value<Value: ColumnValue>(of row: UnsafeRowView, _ layout: RowLayout, as type: Value.Type) throws(RowError) -> Value {
        let access = access(in: layout)
        guard !access.isAbsent, !row.isNull(access) else {
            guard let null = Value.columnNull else { throw nullRefused }
            return null
        }
        try check(access.type, holds: Value.self)
        guard let value = Value.unsafeColumnValue(row, access) else { throw doesNotFit(Value.self) }
        return value
    }
}
