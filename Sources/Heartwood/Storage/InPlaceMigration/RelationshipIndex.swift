import Foundation
import RecordLog

/// Maps relationships of the new model to those of the old one and to the storage of their pairs.
struct RelationshipIndex {
    private let tables: MigratedTables
    private let byRelationship: [ObjectIdentifier: [RelationshipPairs]]

    init(_ tables: MigratedTables, _ catalog: Catalog) {
        self.tables = tables
        var index: [ObjectIdentifier: [RelationshipPairs]] = [:]
        for table in tables.list {
            for case let (old as NSRelationshipDescription, new as NSRelationshipDescription) in table.pairs {
                guard let pairs = RelationshipPairs(old, of: table, catalog) else { continue }
                index[ObjectIdentifier(new), default: []].append(pairs)
            }
        }
        byRelationship = index
    }

    /// Returns the old storage of a relationship's pairs, one for each entity.
    func sources(of relationship: NSRelationshipDescription) -> [RelationshipPairs] { byRelationship[ObjectIdentifier(relationship)] ?? [] }

    /// Whether a relationship and its inverse were inverses of each other before, as far as both existed.
    func isConsistent(_ relationship: NSRelationshipDescription) -> Bool {
        let mine = sources(of: relationship)
        guard let inverse = relationship.inverseRelationship else {
            return mine.allSatisfy { $0.relationship.inverseRelationship !== $0.relationship }
        }
        let theirs = sources(of: inverse)
        if inverse === relationship { return mine.allSatisfy { $0.relationship.inverseRelationship === $0.relationship } }
        guard !mine.isEmpty, !theirs.isEmpty else {
            return (mine + theirs).allSatisfy { $0.relationship.inverseRelationship !== $0.relationship }
        }
        let mineBefore = Set(mine.map { ObjectIdentifier($0.relationship) }), theirsBefore = Set(theirs.map { ObjectIdentifier($0.relationship) })
        func isAmong(_ inverse: NSRelationshipDescription?, _ known: Set<ObjectIdentifier>) -> Bool {
            inverse.map { known.contains(ObjectIdentifier($0)) } ?? false
        }
        return mine.allSatisfy { isAmong($0.relationship.inverseRelationship, theirsBefore) }
            && theirs.allSatisfy { isAmong($0.relationship.inverseRelationship, mineBefore) }
    }

    /// Calls `body` with the old pairs that the relationship can still contain. The pairs come from the old relationship, or from its inverse where
    /// only that existed or only that had link rows.
    func forEach(
        of relationship: NSRelationshipDescription, in base: Snapshot, _ body: (RelationshipPairs.Pair) throws -> Void
    ) throws {
        let own = sources(of: relationship)
        if let inverse = relationship.inverseRelationship, inverse !== relationship {
            let theirs = sources(of: inverse)
            if own.isEmpty || !theirs.isEmpty && !own.contains(where: \.isLinked) && theirs.contains(where: \.isLinked) {
                return try forEach(theirs, to: inverse.destinationEntity, in: base) { try body($0.inverted) }
            }
        }
        try forEach(own, to: relationship.destinationEntity, in: base, body)
    }

    private func forEach(
        _ sources: [RelationshipPairs], to destination: NSEntityDescription?, in base: Snapshot, _ body: (RelationshipPairs.Pair) throws -> Void
    ) throws {
        let members = tables.ids(of: destination)
        for source in sources {
            try source.forEach(in: base) { if members.contains($0.member.table) { try body($0) } }
        }
    }

    /// Returns the tables that a to-one relationship could refer to before and no longer can.
    func gone(from relationship: NSRelationshipDescription, of table: MigratedTable, _ catalog: Catalog) -> Set<TableID> {
        let before = sources(of: relationship).first { $0.table === table }?.relationship.destinationEntity
        return Self.ids(of: before, catalog).subtracting(tables.ids(of: relationship.destinationEntity))
    }

    /// Returns the references of a to-one relationship to missing rows, where it gets an inverse.
    func dangling(of relationship: NSRelationshipDescription, in table: MigratedTable, _ base: Snapshot) throws -> Set<RowReference> {
        guard relationship.inverseRelationship != nil else { return [] }
        return try sources(of: relationship).first { $0.table === table }?.dangling(in: base) ?? []
    }

    /// Returns the tables whose rows a kept join table may link; nil where all its rows stay.
    /// - Parameter old: the plan that the table was created for.
    func ends(
        of plan: LinkPlan, _ old: LinkPlan, _ catalog: Catalog
    ) -> (sources: Set<TableID>, destinations: Set<TableID>)? {
        let sources = Set(sources(of: plan.relationship).map(\.table.definition.id))
        let destinations = tables.ids(of: plan.relationship.destinationEntity)
        let wasFrom = Self.ids(of: old.entity, catalog), wasTo = Self.ids(of: old.relationship.destinationEntity, catalog)
        return wasFrom.isSubset(of: sources) && wasTo.isSubset(of: destinations) ? nil : (sources, destinations)
    }

    private static func ids(of entity: NSEntityDescription?, _ catalog: Catalog) -> Set<TableID> {
        Set((entity?.concreteFamily ?? []).compactMap { catalog.table(named: $0.name ?? "")?.id })
    }
}
