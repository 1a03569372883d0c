import Foundation
import RecordLog

/// How a model lies in a record log: which table, columns and indexes each entity has, and where each relationship is.
///
/// - Each concrete entity has a table of its own, with a column for each persistent attribute and to-one relationship.
/// - A to-many relationship whose inverse is to-one has no storage: it is a range of the index over the inverse's column.
/// - Any other to-many relationship (many-to-many, ordered, or without an inverse) has a link table.
///
/// Immutable; made when a store is loaded.
final class RecordLogSchema: Sendable {
    /// By table ID.
    let tables: [EntityTable?]
    /// The same, for loops over rows, which count no references.
    private let unretained: [Unmanaged<EntityTable>?]
    let links: [LinkTable]
    /// nil where nothing is derived.
    let derivations: DerivationWatches?

    init(tables: [EntityTable], links: [LinkTable]) {
        var byID: [EntityTable?] = []
        for table in tables {
            let id = Int(table.id.rawValue)
            while byID.count <= id { byID.append(nil) }
            byID[id] = table
        }
        self.tables = byID
        unretained = byID.map { $0.map(Unmanaged.passUnretained) }
        self.links = links
        derivations = DerivationWatches(tables)
    }

    func table(_ id: TableID) -> EntityTable? {
        let index = Int(id.rawValue)
        return index < tables.count ? tables[index] : nil
    }

    /// The same, valid as long as the schema is held.
    @inline(__always)
    func unretainedTable(_ id: TableID) -> Unmanaged<EntityTable>? {
        let index = Int(id.rawValue)
        return index < unretained.count ? unretained[index] : nil
    }

    /// The table of an object's row; nil for a key of another store.
    /// - Parameter slotBase: the store's.
    func table(of key: ObjectKey, slotBase: UInt64) -> EntityTable? {
        UInt16(exactly: (key.rawValue >> 48) &- (slotBase >> 48)).flatMap { table(TableID(rawValue: $0)) }
    }

    /// Whether `key` is of a table of this store.
    func holds(_ key: ObjectKey, slotBase: UInt64) -> Bool { table(of: key, slotBase: slotBase) != nil }

    /// The table of an entity's rows.
    /// - Parameter slotBase: the store's.
    /// - Throws: where the runtime is of a store that this one was exchanged for.
    func table(of runtime: EntityRuntime, slotBase: UInt64) throws -> EntityTable {
        let id = TableID(rawValue: UInt16(truncatingIfNeeded: UInt64(runtime.slot) &- (slotBase >> 48)))
        guard let table = table(id), table.runtime === runtime else { throw CoreDataError.noStore(for: runtime.entity) }
        return table
    }
}

/// One entity's table.
final class EntityTable: Sendable {
    let id: TableID
    let runtime: EntityRuntime
    let layout: RowLayout
    /// By property index: the column's position in `layout`; nil for a property without one.
    let positions: [Int?]
    /// By property index: where a to-many relationship's members are; nil for other properties.
    let members: [MemberSource?]
    let indexes: [TableIndex]
    /// Those of them that stand for uniqueness constraints; for loops over rows, which count no references.
    let uniqueIndexes: [Unmanaged<TableIndex>]
    let hasPartialIndexes: Bool
    let hasExpressionIndexes: Bool
    /// The attributes of uniqueness constraints.
    let uniqueProperties: [Int]
    var hasUniqueIndexes: Bool { !uniqueIndexes.isEmpty }
    /// Links whose destinations may be in this table and that no property here leads to: relationships without an inverse, and
    /// those that are their own.
    let inbound: [LinkTable]
    /// The attributes that a save derives, in the order in which it does; nil for none.
    let derivations: [Derivation]?
    /// The relationships whose destinations are deleted with an object.
    let cascades: [Int]
    /// What the deletion of an object has to look at beside its own row, where that is anything.
    let removals: [Removal]
    /// Whether an object may stand in link tables.
    let hasLinks: Bool

    /// A relationship that keeps objects from being deleted, or whose destinations have to forget them.
    struct Removal: Sendable {
        let property: Int
        /// By the destination's properties; nil where a destination denies the deletion.
        let inverse: Int?
    }

    init(
        id: TableID, runtime: EntityRuntime, layout: RowLayout, positions: [Int?], members: [MemberSource?], indexes: [TableIndex],
        inbound: [LinkTable], derivations: [Derivation]?
    ) {
        self.id = id
        self.runtime = runtime
        self.layout = layout
        self.positions = positions
        self.members = members
        self.indexes = indexes
        let unique = indexes.filter(\.isUnique)
        uniqueIndexes = unique.map(Unmanaged.passUnretained)
        hasPartialIndexes = indexes.contains { $0.partial != nil }
        hasExpressionIndexes = indexes.contains { $0.parts.contains { $0.property == nil } }
        uniqueProperties = Array(Set(unique.flatMap { $0.parts.compactMap(\.property) })).sorted()
        self.inbound = inbound
        self.derivations = derivations
        let kept = runtime.properties.indices.filter { runtime.properties[$0].kind.isRelationship && !runtime.properties[$0].isTransient }
        cascades = kept.filter { runtime.properties[$0].deleteRule == .cascadeDeleteRule }
        removals = kept.compactMap { Self.removal($0, runtime) }
        hasLinks = !inbound.isEmpty || members.contains { if case .link? = $0 { true } else { false } }
    }

    private static func removal(_ index: Int, _ runtime: EntityRuntime) -> Removal? {
        let property = runtime.properties[index]
        switch property.deleteRule {
        case .noActionDeleteRule: return nil
        case .denyDeleteRule: return Removal(property: index, inverse: nil)
        case .nullifyDeleteRule, .cascadeDeleteRule:
            // A pair of two to-many sides is a link row; members that are found by their own column have nothing to forget.
            guard let inverse = property.inverse, property.kind == .toOne || !property.inverseIsToMany else { return nil }
            let other = (runtime.entity.frozenProperties[index] as? NSRelationshipDescription)?.inverseRelationship
            if let other, other.isToMany, !LinkPlan.isNeeded(other) { return nil }
            return Removal(property: index, inverse: inverse)
        }
    }
}

/// An index over one entity's table.
final class TableIndex: Sendable {
    struct Part: Sendable {
        let key: IndexKey
        let isAscending: Bool

        init(_ key: IndexKey, isAscending: Bool) {
            self.key = key
            self.isAscending = isAscending
        }

        init(property: Int, isAscending: Bool) {
            self.init(.property(property), isAscending: isAscending)
        }

        /// nil for an expression.
        var property: Int? {
            if case .property(let index) = key { return index }
            return nil
        }
    }

    let id: IndexID
    let name: String
    let parts: [Part]
    /// Whether it stands for a uniqueness constraint.
    let isUnique: Bool
    /// The rows that it has, where it has not all.
    let partial: PartialIndex?
    /// The same constraint's indexes over the tables of related entities, which inherit it too: a value is taken once in all.
    let relatives: [(table: TableID, index: IndexID)]

    /// The attributes that it is over, where there are no expressions among its parts.
    let attributes: [(property: Int, isDescending: Bool)]?
    /// Names the constraint: the same in each table that it holds for.
    let constraint: UInt16

    init(
        id: IndexID, name: String, parts: [Part], isUnique: Bool, partial: PartialIndex?, relatives: [(table: TableID, index: IndexID)]
    ) {
        self.id = id
        self.name = name
        self.parts = parts
        self.isUnique = isUnique
        self.partial = partial
        self.relatives = relatives
        // A loop: see `EntityTable.names(of:)`.
        var attributes: [(property: Int, isDescending: Bool)] = []
        for part in parts {
            if case .property(let property) = part.key { attributes.append((property, !part.isAscending)) }
        }
        self.attributes = attributes.count == parts.count ? attributes : nil
        constraint = relatives.reduce(id.rawValue) { min($0, $1.index.rawValue) }
    }
}

extension EntityTable {
    /// The attributes of an index.
    func names(of index: TableIndex) -> [String] {
        // A loop: Swift 6.3's optimizer stops at the closures that it would otherwise be.
        var names: [String] = []
        for part in index.parts {
            if case .property(let property) = part.key { names.append(runtime.properties[property].name) }
        }
        return names
    }

    /// Where the columns of a row of this table lie, by property index.
    /// - Throws: where the row has a layout that the catalog did not have when the tables were read.
    func accesses(of row: RowView) throws -> UnsafeMutablePointer<ColumnAccess> {
        guard let accesses = runtime.accesses(row.layoutID) else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "A row of \(runtime.entity.name ?? "?") has an unknown layout.")
        }
        return accesses
    }

    /// Appends a row's values of a uniqueness constraint.
    /// - Parameter row: of this table, in any of its layouts.
    /// - Returns: whether the row takes part: null is equal to nothing, so it constrains nothing.
    func appendUniqueKey(of row: RowView, _ index: TableIndex, to keys: KeyBuilder) -> Bool {
        guard let accesses = runtime.accesses(row.layoutID), let attributes = index.attributes else { return false }
        for place in attributes.indices {
            let access = accesses[attributes[place].property]
            guard !access.isAbsent, !row.isNull(access) else { return false }
            keys.append(column: access, of: row, descending: attributes[place].isDescending)
        }
        return true
    }
}

/// Where the members of a to-many relationship are found.
enum MemberSource: Sendable {
    /// In each of these tables' index over the inverse to-one column.
    case inverse([(table: TableID, index: IndexID)])
    /// In a link table, looked up by source (forward) or by destination.
    case link(LinkTable, isForward: Bool)
}

/// The table of a relationship whose pairs are rows: source, destination and, where ordered, the place in the source's order
/// and, where the inverse is ordered too, in the destination's.
final class LinkTable: Sendable {
    static let sourcePosition = 0, destinationPosition = 1, orderPosition = 2, inverseOrderPosition = 3

    let id: TableID
    let layout: RowLayout
    /// Over source[, position], destination.
    let forward: IndexID
    /// Over destination, source.
    let backward: IndexID
    /// Over destination, inverse position, source; nil where the inverse is not ordered.
    let inverse: IndexID?
    let isOrdered: Bool
    /// Whether a destination has one source at most.
    let isExclusive: Bool

    init(
        id: TableID, layout: RowLayout, forward: IndexID, backward: IndexID, inverse: IndexID?, isOrdered: Bool, isExclusive: Bool
    ) {
        self.id = id
        self.layout = layout
        self.forward = forward
        self.backward = backward
        self.inverse = inverse
        self.isOrdered = isOrdered
        self.isExclusive = isExclusive
    }

    /// The index that lists one side's members in their order.
    func index(isForward: Bool) -> IndexID { isForward ? forward : inverse ?? backward }
}
