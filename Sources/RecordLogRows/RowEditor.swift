import RecordLog

/// Sets the columns of one row. It lives in the closure of `Transaction.insert` or `Transaction.update`.
public struct RowEditor: ~Copyable {
    private let builder: RowBuilder
    private let layout: RowLayout
    private let table: TableDefinition
    private let transaction: Transaction

    init(_ builder: RowBuilder, _ layout: RowLayout, of table: TableDefinition, in transaction: Transaction) {
        self.builder = builder
        self.layout = layout
        self.table = table
        self.transaction = transaction
    }

    /// Sets a column. A column that is never set is null in an inserted row, and unchanged in an updated one.
    /// - Throws: `otherTable`, `noSuchColumn`, `typeDiffers`, `doesNotFit`; the row is unchanged then.
    public mutating func set<Value: ColumnValue>(_ column: TypedColumn<Value>, to value: Value) throws(RowError) {
        let position = try position(of: column.locator)
        let type = layout.accessTable[position].type
        try column.locator.check(type, holds: Value.self)
        if value.isColumnNull { return builder.setNull(position) }
        guard value.setColumn(position, of: type, in: builder) else { throw column.locator.doesNotFit(Value.self) }
    }

    /// Sets a large column to a value that `Transaction.writeValue` made, or to null.
    /// - Throws: as for other columns. A value of another transaction or another row is refused as a `StoreError` once the row is written.
    public mutating func set(_ column: LargeColumn, to value: LargeValue?) throws(RowError) {
        let position = try position(of: column.locator)
        guard layout.accessTable[position].type == .value else {
            throw RowError(.typeDiffers, "the column \(column.name) of the table \(table.name) is no column of large values any more")
        }
        if let value { builder.set(position, value: value) } else { builder.setNull(position) }
    }

    /// Sets a large column to bytes that are in memory.
    /// - Throws: as `set(_:to:)` and `Transaction.writeValue`.
    public mutating func set(_ column: LargeColumn, toBytes bytes: [UInt8]) throws {
        try set(column, to: try bytes.withUnsafeBytes { bytes throws(StoreError) in try transaction.writeValue(bytes) })
    }

    /// The column's value as it is set so far.
    /// - Throws: as `Row` does.
    public subscript<Value: ColumnValue>(column: TypedColumn<Value>) -> Value {
        get throws(RowError) {
            try column.locator.check(isOf: table)
            let body = builder.unsafeBody()
            guard let start = body.baseAddress else { throw column.locator.nullRefused }
            let row = UnsafeRowView(body: start, byteCount: body.count, reference: RowReference(rawValue: 0), version: 0)
            return try column.locator.value(of: row, layout, as: Value.self)
        }
    }

    private func position(of column: ColumnLocator) throws(RowError) -> Int {
        try column.check(isOf: table)
        guard let position = column.position(in: layout) else {
            throw RowError(.noSuchColumn, "the newest layout of the table \(table.name) has no column \(column.name)")
        }
        return position
    }
}
