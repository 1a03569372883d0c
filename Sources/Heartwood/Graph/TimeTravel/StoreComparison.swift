import Foundation
import RecordLog

/// Compares two states of a store, object by object: of one store as of two commits, or of a store and a copy of it.
///
/// Memory: a word for each object whose to-many relationships differ, and the members of one relationship at a time.
package struct StoreComparison {
    private let old: ComparedState
    private let new: ComparedState
    private let tables: [ComparedTable]
    /// The newer table of each older one.
    private let successors: [TableID: TableID]

    /// - Parameters:
    ///   - old, new: stores that are added to coordinators, each with the model of its state.
    /// - Throws: 134070 if the stores are not of one identity: row numbers of different stores have nothing to do with each other.
    package init(from old: NSPersistentStore, to new: NSPersistentStore) throws {
        self.old = try ComparedState(old)
        self.new = try ComparedState(new)
        guard old.identifier == new.identifier else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "\(old.url?.path ?? "?") and \(new.url?.path ?? "?") are different stores, not two states of one. Compare a store with a copy of "
                    + "its file, or with a store that `heartwood restore` has made from its backup.")
        }
        tables = ComparedTable.all(self.old, self.new)
        var successors: [TableID: TableID] = [:]
        for table in tables { if let before = table.old?.id { successors[before] = table.new?.id } }
        self.successors = successors
    }

    /// Calls `body` with each object that differs, entity by entity, and in the order of the objects' numbers.
    /// - Parameter entities: the names of the entities to compare; nil for all. A name in either state counts.
    /// - Complexity: O(row numbers); of one file only the rows that differ are read, of two files all rows.
    package func run(_ entities: Set<String>? = nil, _ body: (ObjectDifference) throws -> Void) throws {
        do {
            let touched = try TouchedOwners(old, new, tables, translated)
            for table in tables where isWanted(table, entities) {
                try TableDifference(from: old.snapshot, table.old?.id, to: new.snapshot, table.new?.id).forEach { row in
                    table.new.map { touched.contains(RowReference(table: $0.id, row: row)) } ?? false
                } _: { _, oldRow, newRow in
                    if let found = try difference(oldRow, newRow, table) { try body(found) }
                }
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    private func isWanted(_ table: ComparedTable, _ names: Set<String>?) -> Bool {
        guard let names else { return true }
        return [table.old, table.new].contains { $0?.runtime.entity.name.map(names.contains) ?? false }
    }

    /// A reference of the older state, in the newer one's tables. One to an entity that is gone stays as it is, and equals no newer one.
    private func translated(_ reference: RowReference) -> RowReference {
        guard !reference.isNone, let table = successors[reference.table] else { return reference }
        return RowReference(table: table, row: reference.row)
    }

    /// - Returns: nil if the object is the same in both states.
    private func difference(_ oldRow: UnsafeRowView?, _ newRow: UnsafeRowView?, _ table: ComparedTable) throws -> ObjectDifference? {
        var properties: [PropertyDifference] = []
        for property in table.properties {
            guard let change = try change(property, oldRow, newRow, table) else { continue }
            properties.append(PropertyDifference(name: property.name, change: change))
        }
        let kind: ObjectDifference.Kind = oldRow == nil ? .inserted : newRow == nil ? .deleted : .updated
        guard kind != .updated || !properties.isEmpty else { return nil }
        let uri = newRow.flatMap { new.uri($0.reference) } ?? oldRow.flatMap { old.uri($0.reference) } ?? ""
        let entity = (newRow == nil ? table.old : table.new)?.runtime.entity.name ?? table.name
        return ObjectDifference(kind: kind, entity: entity, object: uri, properties: properties)
    }

    // MARK: Properties

    private func change(
        _ property: ComparedTable.Property, _ oldRow: UnsafeRowView?, _ newRow: UnsafeRowView?, _ table: ComparedTable
    ) throws -> PropertyDifference.Change? {
        let runtime = property.new.flatMap { table.new?.runtime.properties[$0] } ?? property.old.flatMap { table.old?.runtime.properties[$0] }
        switch runtime?.kind {
        case .toMany?: return try members(property, oldRow?.reference, newRow?.reference, table, isOrdered: runtime?.isOrdered ?? false)
        case .toOne?:
            let before = try destination(property.old, oldRow, table.old, old), after = try destination(property.new, newRow, table.new, new)
            guard translated(before) != after else { return nil }
            return .toOne(old: old.uri(before), new: new.uri(after))
        default: return try attribute(property, oldRow, newRow, table)
        }
    }

    private func destination(
        _ property: Int?, _ row: UnsafeRowView?, _ table: EntityTable?, _ state: ComparedState
    ) throws -> RowReference {
        guard let property, let row, let table else { return RowReference(rawValue: 0) }
        return RowReference(rawValue: try state.value(property, of: row, table).destination.rawValue)
    }

    private func members(
        _ property: ComparedTable.Property, _ oldOwner: RowReference?, _ newOwner: RowReference?, _ table: ComparedTable, isOrdered: Bool
    ) throws -> PropertyDifference.Change? {
        let before = try members(property.old, oldOwner, table.old, old), after = try members(property.new, newOwner, table.new, new)
        if isOrdered {
            guard before.map(translated) != after else { return nil }
            return .order(old: before.compactMap(old.uri), new: after.compactMap(new.uri))
        }
        let added = Set(after).subtracting(before.map(translated)), kept = Set(after)
        let removed = before.filter { !kept.contains(translated($0)) }
        guard !added.isEmpty || !removed.isEmpty else { return nil }
        return .members(added: after.filter(added.contains).compactMap(new.uri), removed: removed.compactMap(old.uri))
    }

    private func members(
        _ property: Int?, _ owner: RowReference?, _ table: EntityTable?, _ state: ComparedState
    ) throws -> [RowReference] {
        guard let property, let owner, let table else { return [] }
        return try state.members(property, of: owner, table)
    }

    private func attribute(
        _ property: ComparedTable.Property, _ oldRow: UnsafeRowView?, _ newRow: UnsafeRowView?, _ table: ComparedTable
    ) throws -> PropertyDifference.Change? {
        let before = try value(property.old, oldRow, table.old, old), after = try value(property.new, newRow, table.new, new)
        guard !before.isEqual(to: after) else { return nil }
        let one = Self.shown(before, property.old, table.old), other = Self.shown(after, property.new, table.new)
        // A migration may have changed the type of a number, and not the number.
        if property.kinds(in: table) > 1, let one = one?.object as? NSObject, one.isEqual(other?.object) { return nil }
        return .attribute(old: one, new: other)
    }

    private func value(_ property: Int?, _ row: UnsafeRowView?, _ table: EntityTable?, _ state: ComparedState) throws -> ManagedValue {
        guard let property, let row, let table else { return .null }
        return try state.value(property, of: row, table)
    }

    private static func shown(_ value: ManagedValue, _ property: Int?, _ table: EntityTable?) -> PropertyDifference.Value? {
        guard !value.isNull, let property, let table,
            let attribute = table.runtime.entity.propertiesByIndex[property] as? NSAttributeDescription
        else { return nil }
        let kind = table.runtime.properties[property].kind
        guard kind == .transformable, case .data(let bytes) = value else {
            return PropertyDifference.Value(attribute: attribute, object: value.attributeObject(kind: kind), bytes: nil)
        }
        return PropertyDifference.Value(attribute: attribute, object: AttributeTransformer.object(bytes, of: attribute), bytes: bytes)
    }
}

extension ComparedTable.Property {
    /// How many kinds of values the two states have for this property.
    fileprivate func kinds(in table: ComparedTable) -> Int {
        let kinds = [old.flatMap { table.old?.runtime.properties[$0].kind }, new.flatMap { table.new?.runtime.properties[$0].kind }]
        return Set(kinds.compactMap(\.self)).count
    }
}
