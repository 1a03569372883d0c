import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// The columns that a statement selects of a family's table: number, entity, version, and those of some entities. It makes the stack's rows of the
/// answers.
///
/// The bytes of large data are not selected; a row has a mark in their place (`LargeMark`). A copy of the whole store selects them.
final class RowSelection: @unchecked Sendable {
    // Unchecked: it does not change.

    /// A column of the answer.
    private struct Place {
        let field: BoundEntity.Field
        let column: Int
        /// The column with the entity of a reference; -1 for none.
        let entity: Int
    }

    /// The text behind SELECT.
    let text: String
    private let layout: PostgreSQLLayout
    /// By entity.
    private let places: [Int16: (entity: BoundEntity, places: [Place])]
    static let columnsOfOwn = 3

    /// Takes the bytes of large data, and returns the value for the row.
    typealias LargeData = (UnsafeRawBufferPointer) throws -> LargeValue

    /// - Parameters:
    ///   - entities: of one family.
    ///   - hasLargeData: whether the bytes of large data are selected.
    init(_ entities: [BoundEntity], _ layout: PostgreSQLLayout, alias: String, hasLargeData: Bool = false) {
        self.layout = layout
        var columns: [Int: Int] = [:], texts: [String] = []
        func column(_ index: Int, _ family: Int, _ isLarge: Bool) -> Int {
            if let known = columns[index] { return known }
            let name = "\(alias).\(layout.families[family].columns[index].quoted)"
            texts.append(isLarge ? "(\(name) IS NOT NULL)" : name)
            columns[index] = Self.columnsOfOwn + texts.count - 1
            return Self.columnsOfOwn + texts.count - 1
        }
        var places: [Int16: (entity: BoundEntity, places: [Place])] = [:]
        for entity in entities {
            places[entity.number] = (entity, entity.fields.map { field in
                Place(
                    field: field, column: column(field.column, entity.family, field.kind == .externalData && !hasLargeData),
                    entity: field.target?.entityColumn.map { column($0, entity.family, false) } ?? -1)
            })
        }
        self.places = places
        let own = [FamilyTable.number, FamilyTable.entity, FamilyTable.version].map { "\(alias).\($0)" }
        text = (own + texts).joined(separator: ", ")
    }

    /// Builds the row in a line of an answer. Its bytes are valid until the builder's next row.
    /// - Parameter large: where the bytes of large data are selected.
    /// - Returns: nil for a row of an entity that the selection lacks.
    /// - Throws: where a value is none of its column's type.
    func row(_ result: PostgreSQLResult, _ line: Int, with builder: RowBuilder, large: LargeData? = nil) throws -> UnsafeRowView? {
        let number = try result.int64(line, 0), version = RowVersion.of(try result.int32(line, 2))
        guard number > 0, UInt64(number) < ObjectKey.temporaryBit, let known = places[try result.int16(line, 1)] else { return nil }
        let reference = RowReference(table: known.entity.table.id, row: UInt64(number))
        builder.begin(known.entity.table.layout)
        for place in known.places where try !result.isNull(line, place.column) {
            try set(place, result, line, reference, builder, large)
        }
        let body = builder.unsafeBody()
        guard let start = body.baseAddress else { preconditionFailure("a row has a layout") }
        return UnsafeRowView(body: start, byteCount: body.count, reference: reference, version: version)
    }

    private func set(
        _ place: Place, _ result: PostgreSQLResult, _ line: Int, _ row: RowReference, _ builder: RowBuilder, _ large: LargeData?
    ) throws {
        let position = place.field.position, column = place.column
        switch place.field.kind {
        case .bool: builder.set(position, bool: try result.bool(line, column))
        case .int16, .int32, .int64: builder.set(position, int64: try result.integer(line, column))
        case .float: builder.set(position, double: Double(try result.float(line, column)))
        case .double, .date: builder.set(position, double: try result.double(line, column))
        case .uuid: builder.set(position, uuid: try result.uuid(line, column).storedBytes)
        case .decimal: builder.set(position, decimal: try StoredDecimal(try result.numeric(line, column)))
        case .string, .uri:
            try result.withText(line, column) { bytes throws(PostgreSQLError) in if let bytes { builder.set(position, bytes: bytes) } }
        case .data, .transformable:
            try result.withData(line, column) { bytes throws(PostgreSQLError) in if let bytes { builder.set(position, bytes: bytes) } }
        case .externalData:
            if let large {
                return builder.set(position, value: try Self.value(result, line, column, large))
            }
            guard try result.bool(line, column) else { return }
            LargeMark(row, property: place.field.property).withBytes { builder.set(position, value: LargeValue(inRow: $0)) }
        case .toOne: try setReference(place, result, line, builder)
        case .toMany, .objectID, .undefined: break
        }
    }

    private static func value(_ result: PostgreSQLResult, _ line: Int, _ column: Int, _ large: LargeData) throws -> LargeValue {
        let made = try result.withData(line, column) { bytes throws(PostgreSQLError) in
            Result { try large(bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
        }
        return try made.get()
    }

    private func setReference(_ place: Place, _ result: PostgreSQLResult, _ line: Int, _ builder: RowBuilder) throws {
        guard let target = place.field.target else { return }
        var entity = target.entity
        if place.entity >= 0 {
            guard try !result.isNull(line, place.entity) else { return }
            entity = try result.int16(line, place.entity)
        }
        // A row of an entity that the model lacks shows as none.
        guard let key = layout.key(try result.int64(line, place.column), entity) else { return }
        builder.set(place.field.position, reference: layout.reference(key))
    }
}

/// Stands in a row for large data, which the store reads when it is asked for.
struct LargeMark {
    let row: RowReference
    let property: Int

    private static let size = 13, tag: UInt8 = 0

    init(_ row: RowReference, property: Int) { (self.row, self.property) = (row, property) }

    /// nil for bytes that are none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size, bytes[0] == Self.tag else { return nil }
        row = RowReference(rawValue: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
        property = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt32.self)))
    }

    /// The data that a row has a mark of; nil where the row is gone.
    static func data(
        _ access: ColumnAccess, of row: UnsafeRowView, _ layout: PostgreSQLLayout,
        _ read: (PostgreSQLStatement, PostgreSQLParameters) throws -> PostgreSQLResult
    ) throws -> Data? {
        guard let mark = LargeValue.bytes(inRow: row.bytes(access)).flatMap(LargeMark.init), let entity = layout.entity(mark.row.table),
            let field = entity.field(mark.property)
        else { return nil }
        let family = layout.families[entity.family]
        var parameters = PostgreSQLParameters()
        parameters.addInt64(Int64(mark.row.row))
        let result = try read(
            PostgreSQLStatement(
                "SELECT \(family.columns[field.column].quoted) FROM \(family.quoted) WHERE \(FamilyTable.number) = $1 AND \(layout.isCurrent)"),
            parameters)
        return try result.count == 0 || result.isNull(0, 0) ? nil : result.bytes(0, 0)
    }

    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        var bytes: [UInt8] = [Self.tag]
        withUnsafeBytes(of: row.rawValue.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: property).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.withUnsafeBytes(body)
    }
}

extension StoredDecimal {
    /// - Throws: for a number outside of what a decimal attribute has.
    fileprivate init(_ number: PostgreSQLNumeric) throws {
        guard let exponent = Int16(exactly: number.exponent), (-128...127).contains(exponent) || number.digits == 0 else {
            throw PostgreSQLError(.badAnswer, "A number has the power 10^\(number.exponent), which no decimal attribute has.")
        }
        self.init(mantissa: number.digits, exponent: exponent, isNegative: number.isNegative, isNaN: number.isNaN)
    }
}
