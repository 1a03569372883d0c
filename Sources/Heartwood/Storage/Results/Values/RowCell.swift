import Foundation
import RecordLog

/// A value of a row for code that passes it on. Texts are bytes of the row, so most values take no memory of their own.
///
/// It is valid only in the call that gets it.
package enum RowCell {
    case null
    /// An object on the column's path is missing.
    case missing
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    /// Seconds since 2001.
    case date(Double)
    case text(UnsafeRawBufferPointer)
    /// The bytes in memory order, as two words.
    case uuid(UInt64, UInt64)
    /// The object of a row, in a column of references.
    case reference(RowReference)
    /// A value of any other type, as key-value coding returns it.
    case object(RowObject)

    /// - Parameter value: as key-value coding returns it.
    init(object value: Any?) { self = value.map { .object(RowObject($0)) } ?? .null }

    /// The value as key-value coding returns it.
    /// - Parameter kind: that of the column's attribute, which decides on the type of numbers; nil for a computed value.
    func object(kind: PropertyKind?) -> Any? {
        switch self {
        case .null, .missing, .reference: nil
        case .bool(let flag): NSNumber(value: flag)
        case .integer(let number): ManagedValue.integer(number).attributeObject(kind: kind ?? .int64)
        case .double(let number): ManagedValue.double(number).attributeObject(kind: kind ?? .double)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .text(let bytes): String(stored: bytes)
        case .uuid(let first, let second): UUID(storedBytes: (first, second))
        case .object(let object): object.value
        }
    }
}

/// A value in a cell, which has room for a reference.
package final class RowObject {
    package let value: Any

    init(_ value: Any) { self.value = value }
}

/// A member of a to-many relationship, in a column of members.
package final class MemberReference {
    package let row: RowReference

    init(_ row: RowReference) { self.row = row }
}

/// A column of rows that are passed on.
package struct RowColumn {
    enum Form {
        case value, reference, members
    }

    let path: String
    let form: Form

    /// An attribute, also behind to-one relationships.
    package static func value(_ path: String) -> RowColumn { RowColumn(path: path, form: .value) }

    /// The object at the end of to-one relationships, by its row.
    /// - Parameter path: ends with the relationship for what the row refers to, which may be missing; or with "objectID" for an object that is there.
    package static func reference(_ path: String) -> RowColumn { RowColumn(path: path, form: .reference) }

    /// The members of a to-many relationship as a list: each member's value of an attribute, or a `MemberReference` where it has none.
    /// - Parameter key: the attribute of a member; nil for a list of references.
    package static func members(_ relationship: String, _ key: String?) -> RowColumn {
        RowColumn(path: key.map { "\(relationship).\($0)" } ?? relationship, form: .members)
    }
}

extension ValueColumn {
    /// - Throws: 134091 if the entity has no such path.
    fileprivate init(_ column: RowColumn, _ entity: NSEntityDescription) throws {
        guard column.form != .members else {
            let keys = entity.joiningComposites(try PredicateKeyPath.keys(column.path))
            let expression = ExpressionNode.keyPath(keys), codec = ColumnReader(entity: entity).type(of: expression).codec
            self.init(
                name: column.path, expression: expression, kind: nil, codec: codec, type: MemberReading.self, isOptional: true,
                valueType: RowCell.self)
            return
        }
        let found = try ColumnReader(entity: entity).column(column.path)
        var kind: PropertyKind?
        if case .keyPath(let keys) = found.expression { kind = Self.kind(of: keys, entity) }
        self.init(
            name: column.path, expression: found.expression, kind: kind, codec: found.type.codec,
            type: column.form == .reference ? ReferenceReading.self : CellReading.self, isOptional: true, valueType: RowCell.self)
    }

    /// A column of a dictionary. One that is to have another type than its attribute is computed.
    fileprivate init(_ column: ResultShape.Column, _ entity: NSEntityDescription) {
        var kind: PropertyKind?
        if case .keyPath(let keys) = column.expression { kind = Self.kind(of: keys, entity) }
        // The codec of data is that of data in the row.
        if let known = kind, known != column.type.codec.kind { kind = nil }
        self.init(
            name: column.name, expression: column.expression, kind: kind, codec: column.type.codec, type: CellReading.self, isOptional: true,
            valueType: RowCell.self)
    }
}

extension ValueTable {
    /// Columns of cells.
    init(_ columns: [RowColumn], _ entity: NSEntityDescription) throws { self.init(cells: try columns.map { try ValueColumn($0, entity) }) }

    /// The columns of a dictionary.
    init(_ columns: [ResultShape.Column], _ entity: NSEntityDescription) { self.init(cells: columns.map { ValueColumn($0, entity) }) }

    private init(cells columns: [ValueColumn]) {
        // Cells lie as in an array. In a tuple one may begin before the stride of another.
        let alignment = MemoryLayout<RowCell>.alignment, stride = MemoryLayout<RowCell>.stride
        self.init(columns, columns.map { _ in (stride, alignment) }, size: columns.count * stride, stride: columns.count * stride)
    }
}
