import Foundation
import RecordLog

/// One entity's table.
package final class EntityTable: Sendable {
    package let id: TableID
    package let runtime: EntityRuntime
    package let layout: RowLayout
    /// By property index: the column's position in `layout`; nil for a property without a column.
    package let positions: [Int?]
    /// The position of a property's column in `layout`; nil for a property without a column.
    package func position(ofProperty name: String) -> Int? { runtime.entity.propertyIndexByName[name].flatMap { positions[$0] } }
    /// By property index: the source of a to-many relationship's members; nil for other properties.
    package let members: [MemberSource?]
    /// The indexes of keys.
    let indexes: [TableIndex]
    let textIndexes: [TableIndex]
    /// The indexes of uniqueness constraints, unmanaged, for loops over rows without retain and release.
    let uniqueIndexes: [Unmanaged<TableIndex>]
    /// The unique indexes over one attribute.
    let lookups: [Lookup]
    /// The plans of fetches with known formats.
    let plans = ShapeCache<CachedPlan>()
    let hasPartialIndexes: Bool
    let hasExpressionIndexes: Bool
    /// The attributes in uniqueness constraints.
    let uniqueProperties: [Int]
    var hasUniqueIndexes: Bool { !uniqueIndexes.isEmpty }
    /// The uniqueness constraints over this table, by a number that the tables of a family share, with the names of their properties.
    package var uniqueConstraints: [(number: UInt16, properties: [String])] {
        indexes.filter(\.isUnique).map { ($0.constraint, names(of: $0)) }
    }
    /// The indexes over attributes and references of all rows, in the order of the model.
    package var keyIndexes: [KeyIndex] {
        indexes.compactMap { index in
            guard index.partial == nil, let attributes = index.attributes else { return nil }
            return KeyIndex(
                parts: attributes.map { (property: $0.property, isAscending: !$0.isDescending) }, constraint: index.isUnique ? index.constraint : nil)
        }
    }
    /// Join tables whose destinations may be rows of this table, without a property of this table as their other side: relationships without an
    /// inverse, and those that are their own inverse.
    let inbound: [JoinTable]
    /// The attributes that a save derives, in order of computation; nil for none.
    package let derivations: [Derivation]?
    /// The relationships whose destinations are deleted with an object.
    package let cascades: [Int]
    /// The relationships that a deletion must check or update beside the object's own row.
    package let removals: [Removal]
    /// Whether join tables may refer to rows of this table.
    let hasLinks: Bool

    /// A relationship that denies a deletion, or whose destinations refer back to the deleted object.
    package struct Removal: Sendable {
        package let property: Int
        /// The inverse's index in the destination's properties; nil where a destination denies the deletion.
        package let inverse: Int?
    }

    /// An index as another store makes it.
    package struct KeyIndex: Sendable {
        package let parts: [(property: Int, isAscending: Bool)]
        /// The number that a uniqueness constraint has in the tables of its family; nil for an index of fetches.
        package let constraint: UInt16?
    }

    /// A uniqueness constraint of one text or integer attribute.
    package struct Lookup: Sendable {
        let attribute: String
        let isText: Bool
        let index: TableIndex

        fileprivate init?(_ index: TableIndex, _ runtime: EntityRuntime) {
            guard index.parts.count == 1, index.partial == nil, index.parts[0].isAscending, let property = index.parts[0].property
            else { return nil }
            let kind = runtime.properties[property].kind
            guard kind == .string || kind.codec?.number == .whole else { return nil }
            isText = kind == .string
            attribute = runtime.properties[property].name
            self.index = index
        }
    }

    func hasTextIndex(_ property: Int) -> Bool { textIndexes.contains { $0.parts.first?.property == property } }

    init(
        id: TableID, runtime: EntityRuntime, layout: RowLayout, positions: [Int?], members: [MemberSource?], indexes: [TableIndex],
        inbound: [JoinTable], derivations: [Derivation]?
    ) {
        self.id = id
        self.runtime = runtime
        self.layout = layout
        self.positions = positions
        self.members = members
        self.indexes = indexes.filter { !$0.isText }
        textIndexes = indexes.filter(\.isText)
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
            // Two to-many sides are stored as link rows. A to-many inverse without a join table is read from this row's own column, so the
            // destination stores nothing.
            guard let inverse = property.inverse, property.kind == .toOne || !property.inverseIsToMany else { return nil }
            let other = (runtime.entity.propertiesByIndex[index] as? NSRelationshipDescription)?.inverseRelationship
            if let other, other.isToMany, !LinkPlan.isNeeded(other) { return nil }
            return Removal(property: index, inverse: inverse)
        }
    }
}

extension EntityTable {
    /// Returns the names of an index's attributes.
    func names(of index: TableIndex) -> [String] {
        // A loop instead of `compactMap`: Swift 6.3's optimizer fails on the closures.
        var names: [String] = []
        for part in index.parts {
            if case .property(let property) = part.key { names.append(runtime.properties[property].name) }
        }
        return names
    }

    /// Returns the accesses of a row's columns, by property index.
    /// - Throws: where the row's layout is newer than the catalog from which this table was read.
    package func accesses(of row: UnsafeRowView) throws -> UnsafeMutablePointer<ColumnAccess> {
        guard let accesses = runtime.accesses(row.layoutID) else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "A row of \(runtime.entity.name ?? "?") has an unknown layout.")
        }
        return accesses
    }

    /// Appends a row's key for a uniqueness constraint.
    /// - Parameter row: a row of this table in any layout.
    /// - Returns: false where a value is null: null equals nothing, so the constraint does not apply.
    func appendUniqueKey(of row: UnsafeRowView, _ index: TableIndex, to keys: KeyBuilder) -> Bool {
        guard let accesses = runtime.accesses(row.layoutID), let attributes = index.attributes else { return false }
        for position in attributes.indices {
            let access = accesses[attributes[position].property]
            guard !access.isAbsent, !row.isNull(access) else { return false }
            keys.append(column: access, of: row, descending: attributes[position].isDescending)
        }
        return true
    }
}
