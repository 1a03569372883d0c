import RecordLog

/// A column of a table, with the Swift type of its values.
///
/// Make one with `TableDefinition.column(_:as:)` and keep it: it reads rows of every layout that the table has had or gets. It belongs to the
/// store of its table.
public struct TypedColumn<Value: ColumnValue>: Sendable, Hashable {
    let locator: ColumnLocator

    public var id: ColumnID { locator.id }
    public var table: TableID { locator.table }
    /// The name when this was made.
    public var name: String { locator.name }

    /// The part of an index that orders by this column.
    public var ascending: IndexPart { IndexPart(column: id, ascending: true) }
    public var descending: IndexPart { IndexPart(column: id, ascending: false) }
}

/// A column of values of any length, which stream in and out.
public struct LargeColumn: Sendable, Hashable {
    let locator: ColumnLocator

    public var id: ColumnID { locator.id }
    public var table: TableID { locator.table }
    /// The name when this was made.
    public var name: String { locator.name }
}

extension TableDefinition {
    /// The column of that name in the newest layout.
    /// - Parameter type: the type of its values; an optional if it may be null.
    /// - Throws: `noSuchColumn`; `typeDiffers` if the column's values are of another type.
    public func column<Value: ColumnValue>(_ name: String, as type: Value.Type) throws(RowError) -> TypedColumn<Value> {
        let column = try column(name), locator = ColumnLocator(column, of: self)
        try locator.check(column.type, holds: type)
        return TypedColumn(locator: locator)
    }

    /// The column of large values of that name in the newest layout.
    /// - Throws: `noSuchColumn`; `typeDiffers` if it is no `value` column.
    public func largeColumn(_ name: String) throws(RowError) -> LargeColumn {
        let column = try column(name)
        guard column.type == .value else {
            throw RowError(.typeDiffers, "the column \(name) of the table \(self.name) is of the type \(column.type), not of large values")
        }
        return LargeColumn(locator: ColumnLocator(column, of: self))
    }

    private func column(_ name: String) throws(RowError) -> Column {
        guard let column = currentLayout.columns.first(where: { $0.name == name }) else {
            throw RowError(.noSuchColumn, "the table \(self.name) has no column \(name)")
        }
        return column
    }
}
