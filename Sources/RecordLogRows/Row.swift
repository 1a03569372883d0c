import RecordLog

/// A row as of one snapshot. It keeps the memory that it reads, so it stays valid as long as it is held.
public struct Row: @unchecked Sendable {
    // Unchecked: the view points at committed bytes or at a copy, which never change.
    private let view: UnsafeRowView
    private let layout: RowLayout
    private let owner: Owner
    /// The row's table as of the snapshot.
    public let table: TableDefinition

    private enum Owner {
        case snapshot(Snapshot)
        case copy(RowCopy)
    }

    /// - Returns: nil for a row of the system table.
    init?(_ view: UnsafeRowView, in snapshot: Snapshot) {
        guard let table = snapshot.catalog.table(view.reference.table), let layout = table.layout(view.layoutID) else { return nil }
        self.view = view
        self.layout = layout
        self.table = table
        owner = .snapshot(snapshot)
    }

    /// Copies a row of a transaction.
    /// - Returns: nil for a row of the system table.
    init?(copying view: UnsafeRowView, _ catalog: Catalog, in file: LogFile) {
        guard let table = catalog.table(view.reference.table), let layout = table.layout(view.layoutID) else { return nil }
        let copy = RowCopy(view, in: file)
        self.view = copy.view
        self.layout = layout
        self.table = table
        owner = .copy(copy)
    }

    public var reference: RowReference { view.reference }

    /// 1 when inserted, one more at each update.
    public var version: UInt32 { view.version }

    /// The columns of the layout that the row was written with. It lacks the columns that the table got later.
    public var columns: [Column] { layout.columns }

    /// The value of a column. A column that the table got after the row was written has its default, or is null without one.
    /// - Throws: `otherTable` for another table's column; `isNull`; `typeDiffers` if the column had another type when the row was written;
    ///   `doesNotFit` for a raw value of no case.
    public subscript<Value: ColumnValue>(column: TypedColumn<Value>) -> Value {
        get throws(RowError) {
            try column.locator.check(isOf: table)
            return try column.locator.value(of: view, layout, as: Value.self)
        }
    }

    /// The value of the column of that name in the table's newest layout. A `TypedColumn` spares the search for the name.
    /// - Throws: `noSuchColumn`, and as reading by a `TypedColumn` does.
    public subscript<Value: ColumnValue>(name: String, as type: Value.Type) -> Value {
        get throws(RowError) { try self[table.column(name, as: type)] }
    }

    /// The value of a large column; nil for null. It keeps the memory that it reads, as the row does.
    /// - Throws: `RowError`; `StoreError` if the row does not lead to a value.
    public func value(of column: LargeColumn) throws -> ValueReader? {
        try column.locator.check(isOf: table)
        guard let position = column.locator.position(in: layout) else { return nil }
        let access = layout.access[position]
        guard access.type == .value, !view.isNull(access) else { return nil }
        return switch owner {
        case .snapshot(let snapshot): try snapshot.value(access, of: view)
        // The value may be in the copy.
        case .copy(let copy): try ValueReader(view.bytes(access), in: copy)
        }
    }
}

/// The bytes of a row that is in no snapshot yet.
private final class RowCopy: ValueSource, @unchecked Sendable {
    // Unchecked: the memory is written in `init` only.
    let view: UnsafeRowView
    private let file: LogFile
    private let memory: UnsafeMutableRawBufferPointer

    init(_ row: UnsafeRowView, in file: LogFile) {
        memory = .allocate(byteCount: max(row.byteCount, 1), alignment: 8)
        memory.copyMemory(from: UnsafeRawBufferPointer(start: row.body, count: row.byteCount))
        let body = memory.baseAddress.map(UnsafeRawPointer.init) ?? row.body
        view = UnsafeRowView(body: body, byteCount: row.byteCount, reference: row.reference, version: row.version)
        self.file = file
    }

    var path: String { file.path }

    func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> LogFile.Frame? { try file.frame(at: offset, limit: limit) }

    deinit {
        memory.deallocate()
    }
}
