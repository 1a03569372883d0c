import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Deletes rows with the delete rules of their relationships, by statements on sets of rows.
struct BatchDeletion {
    private let layout: PostgreSQLLayout
    private let view: PostgreSQLView
    private let connection: PostgreSQLConnection
    private var doomed: Set<ObjectKey> = []
    /// nil for a store without a history.
    private(set) var changes: HistoryChanges?
    /// nil for a model without derived attributes.
    private(set) var derived: DerivedSave?

    init(
        _ layout: PostgreSQLLayout, _ view: PostgreSQLView, _ connection: PostgreSQLConnection, _ changes: HistoryChanges?, _ derived: DerivedSave?
    ) {
        (self.layout, self.view, self.connection, self.changes, self.derived) = (layout, view, connection, changes, derived)
    }

    /// - Returns: the rows that are deleted, in the order of their keys.
    /// - Throws: 1600 where a rule denies the deletion, 1570 where a required relationship would lose its destination.
    mutating func run(_ asked: [ObjectKey]) throws -> [ObjectKey] {
        doomed = Set(asked)
        var next = asked
        while !next.isEmpty { next = try cascade(from: next) }
        let keys = doomed.sorted { $0.rawValue < $1.rawValue }
        try noteDeletions(keys)
        try noteDerived(keys)
        for (entity, keys) in byEntity(keys) {
            for removal in entity.table.removals { try unlink(keys, entity, removal) }
        }
        var writing = PostgreSQLBatch()
        try RowGroups.add(deletions: keys, layout, to: &writing)
        try connection.execute(writing)
        return keys
    }

    private mutating func noteDeletions(_ keys: [ObjectKey]) throws {
        guard var changes else { return }
        try view.rows(keys) { key, row in
            if let row, let entity = layout.entity(of: key) { try changes.note(deleted: key, entity, row, view.dataInRow) }
        }
        // Pairs go with their rows, and the objects at their other ends lose a member.
        for (entity, keys) in byEntity(keys) {
            for (property, source) in entity.table.members.enumerated() {
                guard case .link? = source, let inverse = entity.table.runtime.inverseName(property) else { continue }
                for member in try destinations(of: keys, entity, property).flatMap(\.self) where !doomed.contains(member) {
                    changes.note(.update, member, updated: [inverse])
                }
            }
        }
        self.changes = changes
    }

    private mutating func noteDerived(_ keys: [ObjectKey]) throws {
        guard var derived else { return }
        try view.rows(keys) { _, row in if let row { derived.note(deleted: row) } }
        try derived.notePairs(of: keys)
        self.derived = derived
    }

    private func byEntity(_ keys: [ObjectKey]) -> [(BoundEntity, [ObjectKey])] {
        Dictionary(grouping: keys, by: \.slot).sorted { $0.key < $1.key }.compactMap { _, keys in
            layout.entity(of: keys[0]).map { ($0, keys.sorted { $0.rawValue < $1.rawValue }) }
        }
    }

    /// Dooms the destinations of cascading relationships.
    /// - Returns: those that were not doomed before.
    private mutating func cascade(from keys: [ObjectKey]) throws -> [ObjectKey] {
        var found: [ObjectKey] = []
        for (entity, keys) in byEntity(keys) {
            for property in entity.table.cascades {
                for destination in try destinations(of: keys, entity, property).flatMap(\.self) where doomed.insert(destination).inserted {
                    found.append(destination)
                }
            }
        }
        return found
    }

    private func destinations(of keys: [ObjectKey], _ entity: BoundEntity, _ property: Int) throws -> [[ObjectKey]] {
        guard entity.table.members[property] == nil else {
            return try view.members(ofEach: keys, runtime: entity.table.runtime, property: property)
        }
        var found: [[ObjectKey]] = []
        try view.rows(keys) { _, row in
            guard let row, let field = entity.field(property) else { return found.append([]) }
            let access = try entity.table.accesses(of: row)[field.property]
            found.append(access.isAbsent || row.isNull(access) ? [] : [layout.key(row.reference(access))])
        }
        return found
    }

    /// Clears the other side of a relationship, if that is a column of its own. Pairs go with the row.
    private mutating func unlink(_ keys: [ObjectKey], _ entity: BoundEntity, _ removal: EntityTable.Removal) throws {
        guard removal.inverse != nil else {
            for (key, members) in zip(keys, try destinations(of: keys, entity, removal.property)) where !doomed.isSuperset(of: members) {
                throw BatchDeletionError.denied(key, entity.table, removal.property)
            }
            return
        }
        let inverse = entity.table.runtime.inverseName(removal.property) ?? ""
        for other in layout.destinations(of: removal.property, entity) {
            guard let field = other.field(named: inverse) else { continue }
            try unlink(keys, other, field)
        }
    }

    private mutating func unlink(_ keys: [ObjectKey], _ other: BoundEntity, _ field: BoundEntity.Field) throws {
        let family = layout.families[other.family], column = family.columns[field.column].quoted
        var numbers = PostgreSQLArray(of: .int8), kept = PostgreSQLArray(of: .int8), parameters = PostgreSQLParameters()
        for key in keys { numbers.addInt64(Int64(key.row)) }
        for key in doomed where layout.entity(of: key)?.family == other.family { kept.addInt64(Int64(key.row)) }
        try parameters.add(numbers)
        try parameters.add(kept)
        let condition = " WHERE \(column) = ANY($1) AND \(FamilyTable.entity) = \(other.number) AND NOT \(FamilyTable.number) = ANY($2)"
        if !other.table.runtime.entity.propertiesByIndex[field.property].isOptional {
            let found = try connection.execute(
                PostgreSQLStatement("SELECT \(FamilyTable.number) FROM \(family.quoted)\(condition) ORDER BY 1 LIMIT 1"), parameters)
            guard found.count == 0 else {
                let key = ObjectKey(slot: other.table.runtime.slot, row: UInt64(try found.int64(0, 0)))
                throw BatchDeletionError.required(key, other.table, field.property)
            }
            return
        }
        let beside = field.target?.entityColumn.map { ", \(family.columns[$0].quoted) = NULL" } ?? ""
        let changed = try connection.execute(
            PostgreSQLStatement(
                "UPDATE \(family.quoted) SET \(column) = NULL\(beside), \(FamilyTable.version) = \(FamilyTable.version) + 1\(condition)"
                    + " RETURNING \(FamilyTable.number)"), parameters)
        for line in 0..<changed.count {
            let key = ObjectKey(slot: other.table.runtime.slot, row: UInt64(try changed.int64(line, 0)))
            changes?.note(.update, key, updated: [other.table.runtime.properties[field.property].name])
            derived?.note(changed: [key])
        }
    }
}
