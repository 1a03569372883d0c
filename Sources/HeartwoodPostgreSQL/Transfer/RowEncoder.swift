import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Writes the rows of one entity's table of a record log as rows of a COPY.
struct RowEncoder {
    /// The source of a column's values.
    private enum Part {
        /// The rows of this entity have no value.
        case null
        case value(BoundEntity.Field)
        /// The number of the entity of a reference.
        case entity(BoundEntity.Field)
    }

    private let table: EntityTable
    private let number: Int16
    private let parts: [(part: Part, type: PostgreSQLType)]
    private let source: RecordLogView
    private let numbers: SharedTableNumbers
    private let entities: EntityNumbersByTable

    /// - Parameters:
    ///   - table: of the log.
    ///   - family: the columns of the COPY are its own ones and all others, in its order.
    init(
        _ table: EntityTable, _ entity: BoundEntity, _ family: FamilyTable, _ source: RecordLogView, _ numbers: SharedTableNumbers,
        _ entities: EntityNumbersByTable
    ) {
        (self.table, self.source, self.numbers, self.entities, number) = (table, source, numbers, entities, entity.number)
        var parts = family.columns.map { (part: Part.null, type: $0.type.element) }
        for field in entity.fields {
            parts[field.column].part = .value(field)
            if let beside = field.target?.entityColumn { parts[beside].part = .entity(field) }
        }
        self.parts = parts
    }

    func add(_ row: UnsafeRowView, _ key: Int64, to writer: inout PostgreSQLCopyWriter, _ sum: inout RowSum) throws {
        let accesses = try table.accesses(of: row)
        sum.beginRow(&writer, columns: parts.count + 3)
        writer.rows.addInt64(key)
        writer.rows.addInt16(number)
        writer.rows.addInt32(Int32(bitPattern: max(1, row.version)))
        for (part, type) in parts {
            switch part {
            case .null: writer.rows.addNull(type)
            case .value(let field):
                let access = accesses[field.property]
                if access.isAbsent || row.isNull(access) {
                    writer.rows.addNull(type)
                } else {
                    try add(field, row, access, type, to: &writer, &sum)
                }
            case .entity(let field):
                let access = accesses[field.property]
                let reference = access.isAbsent || row.isNull(access) ? RowReference(rawValue: 0) : row.reference(access)
                if reference.isNone { writer.rows.addNull(type) } else { writer.rows.addInt16(try entity(of: reference, field, row)) }
            }
        }
        sum.endRow(&writer)
    }

    private func add(
        _ field: BoundEntity.Field, _ row: UnsafeRowView, _ access: ColumnAccess, _ type: PostgreSQLType, to writer: inout PostgreSQLCopyWriter,
        _ sum: inout RowSum
    ) throws {
        switch field.kind {
        case .bool: writer.rows.addBool(row.int64(access) != 0)
        case .int16: writer.rows.addInt16(Int16(truncatingIfNeeded: row.int64(access)))
        case .int32: writer.rows.addInt32(Int32(truncatingIfNeeded: row.int64(access)))
        case .int64: writer.rows.addInt64(row.int64(access))
        case .float: writer.rows.addFloat(Float(try number(row.double(access), field, row)))
        case .double, .date: writer.rows.addDouble(try number(row.double(access), field, row))
        case .decimal:
            let decimal = row.decimal(access)
            guard !decimal.isNaN else { throw unfit(field, row, UnfitValue.noNumber) }
            writer.rows.addNumeric(PostgreSQLNumeric(decimal))
        case .uuid: writer.rows.addUUID(UUID(storedBytes: row.uuid(access)))
        case .string, .uri:
            let bytes = row.bytes(access)
            guard !bytes.contains(0) else { throw unfit(field, row, UnfitValue.text) }
            try add(bytes, field, row, to: &writer)
        case .data, .transformable: try add(row.bytes(access), field, row, to: &writer)
        case .externalData: try addLarge(field, row, access, to: &writer, &sum)
        case .toOne:
            let reference = row.reference(access)
            guard !reference.isNone else { return writer.rows.addNull(type) }
            _ = try entity(of: reference, field, row)
            writer.rows.addInt64(numbers.number(reference))
        case .toMany, .objectID, .undefined: writer.rows.addNull(type)
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer, _ field: BoundEntity.Field, _ row: UnsafeRowView, to writer: inout PostgreSQLCopyWriter) throws {
        do { try writer.rows.addBytes(bytes) } catch { throw unfit(field, row, UnfitValue.size(bytes.count)) }
    }

    /// Sends a value piece by piece.
    private func addLarge(
        _ field: BoundEntity.Field, _ row: UnsafeRowView, _ access: ColumnAccess, to writer: inout PostgreSQLCopyWriter, _ sum: inout RowSum
    ) throws {
        guard let value = try source.snapshot.value(access, of: row) else { return writer.rows.addNull(.bytea) }
        // A damaged row may state any length.
        try value.verify()
        do { try writer.rows.beginValue(count: value.count) } catch { throw unfit(field, row, UnfitValue.size(value.count)) }
        var sent = 0
        try value.forEachChunk { chunk in
            writer.rows.addPart(chunk)
            sent += chunk.count
            if writer.isFull { try sum.send(&writer) }
            return true
        }
        guard sent == value.count else { throw TableLoad.unsound("\(name(row)) has another length of \(property(field)) than it states") }
    }

    private func number(_ number: Double, _ field: BoundEntity.Field, _ row: UnsafeRowView) throws -> Double {
        guard !number.isNaN else { throw unfit(field, row, UnfitValue.noNumber) }
        return number
    }

    /// - Throws: for a reference to a row that the relationship does not lead to: its number would name another one.
    private func entity(of reference: RowReference, _ field: BoundEntity.Field, _ row: UnsafeRowView) throws -> Int16 {
        guard let number = entities.number(reference), entities.family(reference) == field.target?.family,
            field.target?.entityColumn != nil || field.target?.entity == number
        else { throw TableLoad.unsound("\(name(row)) refers by \(property(field)) to a row that the relationship does not lead to") }
        return number
    }

    private func name(_ row: UnsafeRowView) -> String { "\(table.runtime.entity.name ?? "?") p\(row.reference.row)" }

    private func property(_ field: BoundEntity.Field) -> String { table.runtime.properties[field.property].name }

    private func unfit(_ field: BoundEntity.Field, _ row: UnsafeRowView, _ reason: String) -> NSError {
        UnfitValue.error(name(row), property(field), reason)
    }
}
