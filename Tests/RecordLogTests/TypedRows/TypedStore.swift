import Testing
@testable import RecordLog
@testable import RecordLogRows

/// A store in memory with a table that has a column of each type.
struct TypedStore {
    let memory = MemoryFileSystem()
    let store: LogStore
    let table: TableDefinition

    static let columns: [(name: String, type: ColumnType)] = ColumnType.allCases.map { ("\($0)", $0) }

    init() throws {
        store = try LogStore.open(path: "typed", options: Self.options(memory))
        table = try store.write { try $0.defineTable(name: "values", columns: Self.columns) }
    }

    static func options(_ memory: MemoryFileSystem) -> StoreOptions {
        var options = StoreOptions()
        options.fileSystem = memory
        options.segmentShift = 20
        return options
    }

    /// Opens the file by a further handle.
    func reopened() throws -> LogStore {
        try store.sync()
        return try LogStore.open(path: "typed", options: Self.options(memory))
    }

    func column<Value: ColumnValue>(_ type: ColumnType, as value: Value.Type) throws -> TypedColumn<Value> {
        try table.column("\(type)", as: value)
    }
}

/// One value of one column.
struct TypedCell {
    let column: String
    let name: String
    let set: (inout RowEditor) throws -> Void
    let isIn: (Row) throws -> Bool

    /// The cells of a column: each of the values, and null.
    static func all<Value: ColumnValue & Equatable>(_ column: String, _ table: TableDefinition, _ values: [Value]) throws -> [TypedCell] {
        let typed = try table.column(column, as: Value?.self)
        return ([nil] + values.map { $0 }).map { value in
            TypedCell(
                column: column, name: "\(column) \(value.map { String("\($0)".prefix(40)) } ?? "null")", set: { try $0.set(typed, to: value) },
                isIn: { try $0[typed] == value && $0[column, as: Value?.self] == value })
        }
    }

    /// Cells of every column but the large one: null, an empty or least value, a short one, and a long or greatest one.
    static func all(_ table: TableDefinition) throws -> [TypedCell] {
        let long = String(repeating: "long ", count: 70)
        return try [
            all("bool", table, [false, true]), all("int16", table, [0, Int16.min, .max]), all("int32", table, [0, Int32.min, .max]),
            all("int64", table, [0, Int64.min, .max]), all("float", table, [0, -1.5, Float.greatestFiniteMagnitude]),
            all("double", table, [0, -1.5, Double.greatestFiniteMagnitude]),
            all("date", table, [StoredDate(secondsSinceReferenceDate: 0), StoredDate(secondsSince1970: 0), StoredDate(secondsSince1970: 4e12)]),
            all("uuid", table, [StoredUUID(words: (0, 0)), StoredUUID(words: (1, 2)), StoredUUID(words: (.max, .max))]),
            all("reference", table, [RowReference(rawValue: 0), RowReference(table: table.id, row: 1), RowReference(rawValue: .max)]),
            all("decimal", table, [
                StoredDecimal(mantissa: 0, exponent: 0, isNegative: false, isNaN: false),
                StoredDecimal(mantissa: .max, exponent: -7, isNegative: true, isNaN: false),
            ]),
            all("text", table, ["", "short", "zwölf Zeichen 🪵", long]),
            all("bytes", table, [[], [0], [UInt8](repeating: 7, count: 300)]),
        ].flatMap { $0 }
    }
}
