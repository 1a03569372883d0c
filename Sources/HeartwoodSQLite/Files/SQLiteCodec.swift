import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// One type of attribute in tables of SQLite: its columns, and the conversions of single values.
///
/// Reading a row has a `switch` over the type instead (`CoreDataRows`), and so has writing one over the form (`ExportValues`).
struct SQLiteCodec: Sendable {
    /// The column in a table of Core Data's. Facts, "types".
    let declaredType: String
    /// The column's group in the order of such a table's columns. Facts, "order of columns".
    let group: Int
    /// The form of values in Core Data's tables; nil for a property without values.
    let form: ExportForm?
    /// The form of data that may lie outside of the row.
    let externalForm: ExportForm?
    /// The column in a table for people.
    let plainType: String
    let plainForm: ExportForm?
    /// The entries of an index on the column; nil where no index serves.
    let index: SQLiteIndexForm?
    /// A constant in the condition of a partial index; nil where SQL cannot say it exactly.
    let constant: @Sendable (PredicateValue) -> PartialIndexCondition.Constant?
    /// The value of a column that nobody has checked: nil for null, and for a value of another type.
    let read: @Sendable (borrowing SQLiteRow, Int) throws -> ManagedValue?
    /// The fault of a value that is not null.
    let fault: ValueFault.Check?

    init(
        _ declaredType: String, group: Int, _ form: ExportForm?, external: ExportForm? = nil, plain plainType: String = "INTEGER",
        _ plainForm: ExportForm? = nil, index: SQLiteIndexForm? = nil,
        constant: @escaping @Sendable (PredicateValue) -> PartialIndexCondition.Constant? = { _ in nil },
        read: @escaping @Sendable (borrowing SQLiteRow, Int) throws -> ManagedValue? = { _, _ in nil }, fault: ValueFault.Check? = nil
    ) {
        self.declaredType = declaredType
        self.group = group
        self.form = form
        externalForm = external ?? form
        self.plainType = plainType
        self.plainForm = plainForm ?? form
        self.index = index
        self.constant = constant
        self.read = read
        self.fault = fault
    }

    /// The group of keys of other rows.
    static let keys = 1
}

extension PropertyKind {
    var sqlite: SQLiteCodec {
        switch self {
        case .bool: .bool
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .data: .data
        case .externalData: .externalData
        case .uuid: .uuid
        case .uri: .uri
        case .transformable: .transformable
        case .toOne: .toOne
        case .toMany: .toMany
        case .objectID, .undefined: .none
        }
    }
}

// MARK: Types

extension SQLiteCodec {
    private static func whole(
        _ range: ClosedRange<Int64>, _ message: String, index: SQLiteIndexForm?, read: @escaping @Sendable (Int64) -> ManagedValue
    ) -> SQLiteCodec {
        SQLiteCodec(
            "INTEGER", group: 0, .integer, index: index,
            constant: { value in
                switch value {
                case .bool(let flag): .integer(flag ? 1 : 0)
                case .integer(let number): .integer(number)
                case .double(let number): .real(exactly: number)
                default: nil
                }
            },
            read: { row, column in try row.integer(column).map(read) }, fault: ValueFault.integer(range, message))
    }

    fileprivate static let int16 = whole(
        Int64(Int16.min)...Int64(Int16.max), "beyond an Integer 16", index: .integer(Int64(Int16.min)...Int64(Int16.max)), read: ManagedValue.integer)
    fileprivate static let int32 = whole(
        Int64(Int32.min)...Int64(Int32.max), "beyond an Integer 32", index: .integer(Int64(Int32.min)...Int64(Int32.max)), read: ManagedValue.integer)
    fileprivate static let int64 = whole(.min...Int64.max, "no integer", index: .integer(nil), read: ManagedValue.integer)

    fileprivate static let bool = SQLiteCodec(
        "INTEGER", group: 0, .integer,
        constant: { value in
            switch value {
            case .bool(let flag): .integer(flag ? 1 : 0)
            case .integer(let number): .integer(number)
            default: nil
            }
        },
        read: { row, column in try row.integer(column).map { .bool($0 != 0) } }, fault: ValueFault.integer(0...1, "no Boolean"))

    private static func fraction(index: SQLiteIndexForm?) -> SQLiteCodec {
        SQLiteCodec(
            "FLOAT", group: 10, .number, plain: "REAL", index: index,
            constant: { value in
                switch value {
                case .integer(let number): .integer(number)
                case .double(let number): .real(exactly: number)
                default: nil
                }
            },
            read: { row, column in try row.real(column).map(ManagedValue.double) }, fault: ValueFault.number)
    }

    /// A real is rounded when it is read, so an index has another order.
    fileprivate static let float = fraction(index: nil)
    fileprivate static let double = fraction(index: .real)

    /// In tables for people a date is text.
    fileprivate static let date = SQLiteCodec(
        "TIMESTAMP", group: 10, .number, plain: "TEXT", .dateText, index: .real,
        constant: { if case .date(let seconds) = $0 { .real(exactly: seconds) } else { nil } },
        read: { row, column in try row.real(column).map(ManagedValue.date) }, fault: ValueFault.number)

    fileprivate static let decimal = SQLiteCodec(
        "DECIMAL", group: 11, .decimalNumber, plain: "TEXT", .decimalText,
        read: { row, column in
            let text = try row.real(column).map { "\($0)" } ?? row.string(column)
            return text.flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }.map { .decimal(NSDecimalNumber(decimal: $0)) }
        },
        fault: ValueFault.decimal)

    fileprivate static let string = SQLiteCodec(
        "VARCHAR", group: 12, .text, plain: "TEXT", index: .text,
        // The text of a statement ends with a zero.
        constant: { if case .text(let text) = $0, !text.utf8.contains(0) { .text(text) } else { nil } },
        read: { row, column in try row.string(column).map(ManagedValue.text) }, fault: ValueFault.characters)

    fileprivate static let uri = SQLiteCodec(
        "VARCHAR", group: 13, .text, plain: "TEXT",
        read: { row, column in try row.string(column).flatMap { URL(string: $0) }.map(ManagedValue.url) }, fault: ValueFault.uri)

    fileprivate static let uuid = SQLiteCodec(
        "BLOB", group: 14, .uuid, plain: "TEXT", .uuidText, index: .uuid,
        read: { row, column in
            guard let bytes = try row.blob(column), bytes.count == 16 else { return nil }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        },
        fault: ValueFault.uuid)

    private static func bytes(group: Int, _ form: ExportForm, external: ExportForm, plain: ExportForm) -> SQLiteCodec {
        SQLiteCodec(
            "BLOB", group: group, form, external: external, plain: "BLOB", plain,
            read: { row, column in try row.blob(column).map { .data(Data($0)) } }, fault: ValueFault.data)
    }

    fileprivate static let transformable = bytes(group: 15, .bytes, external: .taggedBytes, plain: .bytes)
    fileprivate static let data = bytes(group: 16, .bytes, external: .taggedBytes, plain: .bytes)
    fileprivate static let externalData = bytes(group: 16, .taggedValue, external: .taggedValue, plain: .value)

    fileprivate static let toOne = SQLiteCodec("INTEGER", group: keys, nil, index: .key)
    fileprivate static let toMany = SQLiteCodec("INTEGER", group: keys, nil)
    fileprivate static let none = SQLiteCodec("INTEGER", group: 0, nil)
}
