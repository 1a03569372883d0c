import Foundation
import Heartwood
import RecordLog

/// The tables of a model's entities in a schema of the server. The model decides the names.
final class PostgreSQLLayout: Sendable {
    let schema: RecordLogSchema
    let slotBase: UInt64
    /// The name of the server's schema.
    let name: String
    /// The number of migrations so far, from 1.
    let version: Int
    let families: [FamilyTable]
    let links: [LinkTable]
    /// The entities in the order of the stack's tables.
    let entities: [BoundEntity]
    /// The number of each family's entities.
    let entityCounts: [Int]
    /// The marker of the version as it stands in statements.
    let marker: String
    /// A condition that is true, and that the server refuses once the store has another version. It costs a lock and no reading.
    let isCurrent: String
    let crashMark: CrashMark
    let writing = WritingStatements()
    private let linkPlaces: [TableID: Int]
    /// By the number of the stack's table.
    private let bound: [BoundEntity?]
    private let byNumber: [Int16: BoundEntity]

    init(_ schema: RecordLogSchema, slotBase: UInt64, in name: String, numbers: [String: Int16], version: Int = 1) {
        (self.schema, self.slotBase, self.name, self.version) = (schema, slotBase, name, version)
        var builder = LayoutBuilder(schema, name, numbers)
        builder.build()
        (families, links, linkPlaces, bound) = (builder.families, builder.links, builder.linkPlaces, builder.bound)
        let entities = bound.compactMap(\.self)
        self.entities = entities
        entityCounts = families.indices.map { family in entities.count { $0.family == family } }
        byNumber = Dictionary(entities.map { ($0.number, $0) }) { first, _ in first }
        crashMark = CrashMark(schema: name)
        marker = SQLName.quoted(name) + "." + StoreTables.marker(version)
        isCurrent = "(true OR EXISTS (SELECT 1 FROM \(marker)))"
    }

    /// The tables of the rows and of the pairs, as they stand in statements.
    var tableNames: [String] { families.map(\.quoted) + links.map(\.quoted) }

    func entity(_ table: TableID) -> BoundEntity? {
        Int(table.rawValue) < bound.count ? bound[Int(table.rawValue)] : nil
    }

    func entity(of table: EntityTable) -> BoundEntity {
        guard let found = entity(table.id) else { preconditionFailure("each table of the schema is bound") }
        return found
    }

    func entity(of key: ObjectKey) -> BoundEntity? { schema.table(of: key, slotBase: slotBase).flatMap { entity($0.id) } }

    /// The place in `links` of a relationship's table.
    func linkIndex(_ link: JoinTable) -> Int? { linkPlaces[link.id] }

    func link(_ id: TableID) -> LinkTable? { linkPlaces[id].map { links[$0] } }

    func link(_ link: JoinTable) -> LinkTable {
        guard let place = linkIndex(link) else { preconditionFailure("each relationship of the schema is bound") }
        return links[place]
    }

    // MARK: Keys

    func reference(_ key: ObjectKey) -> RowReference { RowReference(rawValue: key.rawValue &- slotBase) }

    func key(_ reference: RowReference) -> ObjectKey { ObjectKey(rawValue: reference.rawValue &+ slotBase) }

    /// Keys by the family whose table has their rows, in the order of the families. Keys of no entity are left out.
    func byFamily(_ keys: [ObjectKey]) -> [(family: FamilyTable, keys: [ObjectKey])] {
        Dictionary(grouping: keys) { entity(of: $0)?.family ?? -1 }.filter { $0.key >= 0 }.sorted { $0.key < $1.key }
            .map { (families[$0.key], $0.value) }
    }

    /// The key of a row; nil for an entity that the model lacks, or a number that no store gives.
    func key(_ number: Int64, _ entity: Int16) -> ObjectKey? {
        guard let found = byNumber[entity], number > 0, UInt64(number) < ObjectKey.temporaryBit else { return nil }
        return ObjectKey(slot: found.table.runtime.slot, row: UInt64(number))
    }
}
