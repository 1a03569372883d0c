import Foundation
import Heartwood
import RecordLog

/// A row that a save or a batch request writes, with what it gets. An object, since the parts of a save pass all rows on.
final class SavedRow {
    /// The object of a save; nil for a row of a batch request.
    let object: SavedObject?
    private let slotBase: UInt64
    let entity: BoundEntity
    var key: ObjectKey
    /// The row that the object read or saved last; nil for a new row.
    let base: UnsafeRowView?
    /// The fields that get another value, by their places in the entity, ascending.
    private(set) var values: [(place: Int, value: ManagedValue)]
    /// The version that the row gets.
    var version: UInt32 = 1

    /// A row of a save.
    /// - Parameter base: nil to write every value that is not null.
    convenience init(_ object: SavedObject, _ entity: BoundEntity, _ key: ObjectKey, over base: UnsafeRowView?) throws {
        try self.init(object, entity, key, over: base, object.slotBase) { try object.value($0.property, over: base) }
    }

    /// A row of a batch request.
    /// - Parameter given: values by property index; `unset` keeps what the row has.
    convenience init(_ entity: BoundEntity, _ key: ObjectKey, over base: UnsafeRowView?, _ given: [ManagedValue], slotBase: UInt64) throws {
        try self.init(nil, entity, key, over: base, slotBase) { field in
            guard field.property < given.count else { return .unset }
            return try given[field.property].transformed(field.property, of: entity.table.runtime.entity)
        }
    }

    private init(
        _ object: SavedObject?, _ entity: BoundEntity, _ key: ObjectKey, over base: UnsafeRowView?, _ slotBase: UInt64,
        _ value: (BoundEntity.Field) throws -> ManagedValue
    ) throws {
        (self.object, self.entity, self.key, self.base, self.slotBase) = (object, entity, key, base, slotBase)
        let accesses = try base.map { try entity.table.accesses(of: $0) }
        var values: [(place: Int, value: ManagedValue)] = []
        for (place, field) in entity.fields.enumerated() {
            let value = try value(field)
            switch value {
            case .unset, .toMany: continue
            case .null where base == nil: continue
            default: break
            }
            if let base, let access = accesses?[field.property], Self.isStored(value, field, access, base, slotBase) { continue }
            values.append((place, value))
        }
        self.values = values
    }

    private static func isStored(
        _ value: ManagedValue, _ field: BoundEntity.Field, _ access: ColumnAccess, _ row: UnsafeRowView, _ slotBase: UInt64
    ) -> Bool {
        let stored = storedValue(field, access, row, slotBase)
        if case .null = stored { return value.isEqual(to: stored) }
        return field.kind != .externalData && value.isEqual(to: stored)
    }

    private static func storedValue(
        _ field: BoundEntity.Field, _ access: ColumnAccess, _ row: UnsafeRowView, _ slotBase: UInt64
    ) -> ManagedValue {
        guard !access.isAbsent, !row.isNull(access) else { return .null }
        guard field.kind != .externalData else { return .unset }
        return ManagedValue(row: row, access: access, kind: field.kind, slotBase: slotBase)
    }

    /// Whether the save gives a field another value.
    func changes(_ place: Int) -> Bool { values.contains { $0.place == place } }

    /// A field's value after the save.
    func value(_ place: Int) throws -> ManagedValue {
        try values.first { $0.place == place }?.value ?? formerValue(place)
    }

    /// A field's value before the save.
    func formerValue(_ place: Int) throws -> ManagedValue {
        guard let base else { return .null }
        let field = entity.fields[place]
        return Self.storedValue(field, try entity.table.accesses(of: base)[field.property], base, slotBase)
    }

    /// Gives a field another value; `unset` for the one that it has.
    func set(_ place: Int, _ value: ManagedValue) throws {
        values.removeAll { $0.place == place }
        guard !value.isUnset, !(base == nil && value.isNull) else { return }
        if let base {
            let field = entity.fields[place]
            if Self.isStored(value, field, try entity.table.accesses(of: base)[field.property], base, slotBase) { return }
        }
        values.insert((place, value), at: values.firstIndex { $0.place > place } ?? values.count)
    }

    /// Builds the row as it is after the save.
    func build(with builder: RowBuilder, _ layout: PostgreSQLLayout) throws {
        if let base { try builder.begin(entity.table, revising: base) } else { builder.begin(entity.table.layout) }
        for (place, value) in values {
            let field = entity.fields[place]
            switch value {
            case .null: builder.setNull(field.position)
            case .reference(let key): builder.set(field.position, reference: layout.reference(key))
            case .data where field.kind == .externalData:
                LargeMark(layout.reference(self.key), property: field.property).withBytes { builder.set(field.position, value: LargeValue(inRow: $0)) }
            default: try value.encode(into: builder, at: field.position)
            }
        }
    }
}
