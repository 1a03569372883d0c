import Foundation
import RecordLog

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
    /// Those of them that find a row by the value of one attribute, by the attribute's name.
    let lookups: [Lookup]
    let hasPartialIndexes: Bool
    let hasExpressionIndexes: Bool
    /// The attributes of uniqueness constraints.
    let uniqueProperties: [Int]
    var hasUniqueIndexes: Bool { !uniqueIndexes.isEmpty }
    /// Links whose destinations may be in this table and that no property here leads to: relationships without an inverse, and
    /// those that are their own.
    let inbound: [JoinTable]
    /// The attributes that a save derives, in the order in which it does; nil for none.
    let derivations: [Derivation]?
    /// The relationships whose destinations are deleted with an object.
    let cascades: [Int]
    /// What the deletion of an object has to look at beside its own row, where that is anything.
    let removals: [Removal]
    /// Whether an object may stand in join tables.
    let hasLinks: Bool

    /// A relationship that keeps objects from being deleted, or whose destinations have to forget them.
    struct Removal: Sendable {
        let property: Int
        /// By the destination's properties; nil where a destination denies the deletion.
        let inverse: Int?
    }

    /// A uniqueness constraint of one attribute that holds a text or an integer.
    struct Lookup: Sendable {
        let attribute: String
        let isText: Bool
        let index: TableIndex

        fileprivate init?(_ index: TableIndex, _ runtime: EntityRuntime) {
            guard index.parts.count == 1, index.partial == nil, index.parts[0].isAscending, let property = index.parts[0].property else { return nil }
            switch runtime.properties[property].kind {
            case .string: isText = true
            case .int16, .int32, .int64: isText = false
            default: return nil
            }
            attribute = runtime.properties[property].name
            self.index = index
        }
    }

    init(
        id: TableID, runtime: EntityRuntime, layout: RowLayout, positions: [Int?], members: [MemberSource?], indexes: [TableIndex],
        inbound: [JoinTable], derivations: [Derivation]?
    ) {
        self.id = id
        self.runtime = runtime
        self.layout = layout
        self.positions = positions
        self.members = members
        self.indexes = indexes
        let unique = indexes.filter(\.isUnique)
        uniqueIndexes = unique.map(Unmanaged.passUnretained)
        var lookups: [Lookup] = []
        for index in unique { if let lookup = Lookup(index, runtime) { lookups.append(lookup) } }
        self.lookups = lookups
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
        for position in attributes.indices {
            let access = accesses[attributes[position].property]
            guard !access.isAbsent, !row.isNull(access) else { return false }
            keys.append(column: access, of: row, descending: attributes[position].isDescending)
        }
        return true
    }
}
