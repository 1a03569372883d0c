import Foundation
import RecordLog

/// Computes the new value of one property in each row of a table whose model's version changes.
final class ColumnMigration {
    private let column: MigratedColumn
    private let entity: NSEntityDescription
    private let position: Int
    private let layout: RowLayout
    /// By the layout of the old rows.
    private let accesses: [ColumnAccess]
    /// The value of an object that has none.
    private let filling: ManagedValue?
    /// Whether the new layout gives the value to the rows of older ones, so that none is written for it.
    private let isStated: Bool
    private let isRequired: Bool
    private let conversion: AttributeConversion
    private let kinds: (old: PropertyKind, new: PropertyKind)
    private let moved: MovedReferences?

    init(_ column: MigratedColumn, of table: MigratedTable, in layout: RowLayout, _ moved: MovedReferences?, isStated: Bool = false) throws {
        self.column = column
        self.isStated = isStated
        self.moved = moved
        self.layout = layout
        entity = table.destination
        conversion = column.source?.conversion ?? .none
        let kind = PropertyKind(column.property)
        kinds = (column.source.map { PropertyKind($0.property) } ?? kind, kind)
        position = layout.columns.firstIndex { $0.name == column.property.name } ?? 0
        accesses = table.definition.layouts.map { old in
            column.source.map { old.access(of: $0.column.id) } ?? .absent
        }
        let attribute = column.property as? NSAttributeDescription
        let isDerived = attribute is NSDerivedAttributeDescription
        let initial = try attribute?.defaultValue.flatMap { ManagedValue(attributeObject: $0, kind: kind) }?
            .transformed(column.property.index, of: table.destination)
        // An optional value that the user has set to nil stays nil.
        filling = isDerived ? nil : column.source == nil || column.isNewlyRequired ? initial : nil
        isRequired = column.isNewlyRequired && filling == nil && !isDerived
    }

    /// Whether the table's rows must be read.
    var needsRows: Bool { filling != nil && !isStated || isRequired || conversion != .none || moved != nil }

    private func access(in row: UnsafeRowView) -> ColumnAccess? {
        let access = accesses[Int(row.layoutID.rawValue)]
        return access.isAbsent || row.isNull(access) ? nil : access
    }

    /// Returns the relationship's new destination.
    private func reference(in row: UnsafeRowView, _ moved: MovedReferences) -> RowReference? {
        if let access = access(in: row) {
            let reference = row.reference(access)
            if !reference.isNone, !moved.isGone(reference) { return reference }
        }
        return moved.reference(of: row.reference.row)
    }

    /// Whether a row must be rewritten.
    /// - Throws: 134110 where a required value is missing.
    func changes(_ row: UnsafeRowView) throws -> Bool {
        if let moved {
            let new = reference(in: row, moved), old = access(in: row).map { row.reference($0).rawValue }
            // The migration removes the object that the row referred to.
            let isLost = old != nil && !column.property.isOptional
            if new == nil, isRequired || isLost { throw MigrationErrors.missing(column.property, of: entity) }
            return new?.rawValue != old
        }
        guard access(in: row) == nil else { return conversion != .none }
        if isRequired { throw MigrationErrors.missing(column.property, of: entity) }
        return filling != nil && !isStated
    }

    /// Sets the property, in a row of the new layout, to the value that the layout can state for the objects without one.
    /// - Returns: false where there is none, or each row must have it.
    func state(in builder: RowBuilder) throws -> Bool {
        guard let filling, column.type != .value, column.type != .reference else { return false }
        switch filling {
        case .null: return false
        case .text(let value): guard value.utf8.count <= RowLayout.defaultSizeMax else { return false }
        case .data(let value): guard value.count <= RowLayout.defaultSizeMax else { return false }
        case .url(let value): guard value.absoluteString.utf8.count <= RowLayout.defaultSizeMax else { return false }
        default: break
        }
        try filling.encode(into: builder, at: position)
        return true
    }

    /// Writes the property's new value into a row of the new layout.
    func write(_ row: UnsafeRowView, into builder: RowBuilder, _ transaction: Transaction) throws {
        if let moved {
            if let reference = reference(in: row, moved) { builder.set(position, reference: reference) }
            return
        }
        guard let access = access(in: row) else {
            if let filling { try transaction.encode(filling, into: builder, at: position, of: layout) }
            return
        }
        switch conversion {
        case .none: builder.copy(position, from: row, access)
        case .external:
            if column.type == .value {
                builder.set(position, value: try transaction.writeValue(row.bytes(access)))
            } else if let value = try transaction.base.value(access, of: row) {
                try Data(value).withUnsafeBytes { builder.set(position, bytes: $0) }
            }
        case .number:
            let value = ManagedValue(row: row, access: access, kind: kinds.old, slotBase: 0)
            guard let converted = conversion.apply(value, to: kinds.new) else {
                let number = value.attributeObject(kind: kinds.old) ?? "of a row"
                throw MigrationErrors.unsuited("The value \(number) does not fit the attribute's type", column.property, of: entity)
            }
            try converted.encode(into: builder, at: position)
        }
    }
}
