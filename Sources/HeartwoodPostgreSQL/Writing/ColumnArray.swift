import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// The values of one column for several rows, as a parameter that `unnest` makes rows of.
struct ColumnArray {
    let column: FamilyTable.Column
    private(set) var array: PostgreSQLArray

    init(_ column: FamilyTable.Column) {
        self.column = column
        array = PostgreSQLArray(of: column.type.element)
    }

    var byteCount: Int { array.bytes.count }

    mutating func add(number: Int64) {
        switch column.type {
        case .smallint: array.addInt16(Int16(truncatingIfNeeded: number))
        case .integer: array.addInt32(Int32(truncatingIfNeeded: number))
        default: array.addInt64(number)
        }
    }

    mutating func addNull() { array.addNull() }

    /// Adds an attribute's value, or the number of the row that a reference leads to.
    /// - Throws: 1550 for a value that the server cannot have as the record log has it: NaN, a text with U+0000, a gigabyte.
    mutating func add(_ value: ManagedValue, _ entity: NSEntityDescription) throws {
        switch value {
        case .unset, .null, .toMany, .object: addNull()
        case .reference(let target): add(number: Int64(target.row))
        case .bool(let flag): array.addBool(flag)
        case .integer(let number): add(number: number)
        case .double(let number), .date(let number):
            guard !number.isNaN else { throw unfit(UnfitValue.noNumber, entity) }
            if column.type == .real { array.addFloat(Float(number)) } else { array.addDouble(number) }
        case .text(let text): try add(text, entity)
        case .url(let url): try add(url.absoluteString, entity)
        case .data(let data):
            do { try array.addBytes(data) } catch { throw unfit(UnfitValue.size(data.count), entity) }
        case .uuid(let uuid): array.addUUID(uuid)
        case .decimal(let number):
            guard !number.decimalValue.isNaN else { throw unfit(UnfitValue.noNumber, entity) }
            array.addNumeric(PostgreSQLNumeric(StoredDecimal(number.decimalValue)))
        }
    }

    private mutating func add(_ text: String, _ entity: NSEntityDescription) throws {
        do { try array.addText(text) } catch { throw unfit(UnfitValue.text, entity) }
    }

    private func unfit(_ reason: String, _ entity: NSEntityDescription) -> NSError {
        UnfitValue.error(entity.name ?? "?", column.name, reason)
    }
}

extension SQLType {
    /// The type of the elements of an array that has a column's values.
    var element: PostgreSQLType {
        switch self {
        case .boolean: .bool
        case .smallint: .int2
        case .integer: .int4
        case .bigint: .int8
        case .real: .float4
        case .double: .float8
        case .text: .text
        case .uuid: .uuid
        case .numeric: .numeric
        case .bytea: .bytea
        }
    }
}
