import RecordLog

/// The objects whose to-many relationships may differ between two states although their rows do not: owners of members that came, went or moved.
///
/// Memory: a word for each of these objects.
struct TouchedOwners {
    private var owners: Set<RowReference> = []

    func contains(_ reference: RowReference) -> Bool { owners.contains(reference) }

    /// - Parameter translated: the reference in the newer state's tables for one in the older state's.
    init(_ old: ComparedState, _ new: ComparedState, _ tables: [ComparedTable], _ translated: (RowReference) -> RowReference) throws {
        for table in tables { try add(table, old, new, translated) }
        try addLinks(old, new, translated)
    }

    /// Adds the destinations of to-one relationships that are the storage of to-many ones.
    private mutating func add(
        _ table: ComparedTable, _ old: ComparedState, _ new: ComparedState, _ translated: (RowReference) -> RowReference
    ) throws {
        let properties = table.properties.filter { property in
            Self.storesMembers(property.old, table.old) || Self.storesMembers(property.new, table.new)
        }
        guard !properties.isEmpty else { return }
        try TableDifference(from: old.snapshot, table.old?.id, to: new.snapshot, table.new?.id).forEach { _, oldRow, newRow in
            for property in properties {
                let before = translated(Self.destination(property.old, oldRow, table.old))
                let after = Self.destination(property.new, newRow, table.new)
                if before != after { owners.formUnion([before, after]) }
            }
        }
    }

    private static func storesMembers(_ property: Int?, _ table: EntityTable?) -> Bool {
        guard let property, let found = table?.runtime.properties[property] else { return false }
        return found.kind == .toOne && found.inverse != nil && found.inverseIsToMany
    }

    private static func destination(_ property: Int?, _ row: UnsafeRowView?, _ table: EntityTable?) -> RowReference {
        guard let property, let row, let access = table?.runtime.access(property, in: row) else { return RowReference(rawValue: 0) }
        return row.reference(access)
    }

    /// Adds both ends of the link rows that differ.
    private mutating func addLinks(_ old: ComparedState, _ new: ComparedState, _ translated: (RowReference) -> RowReference) throws {
        let before = Set(old.view.schema.links.map(\.id)), after = Set(new.view.schema.links.map(\.id))
        for id in before.union(after) {
            let difference = TableDifference(
                from: old.snapshot, before.contains(id) ? id : nil, to: new.snapshot, after.contains(id) ? id : nil)
            try difference.forEach { _, oldRow, newRow in
                for end in Self.ends(oldRow, old.snapshot) { owners.insert(translated(end)) }
                for end in Self.ends(newRow, new.snapshot) { owners.insert(end) }
            }
        }
    }

    private static func ends(_ row: UnsafeRowView?, _ snapshot: Snapshot) -> [RowReference] {
        guard let row, let layout = snapshot.catalog.table(row.reference.table)?.layout(row.layoutID),
            layout.access.count > JoinTable.destinationPosition
        else { return [] }
        return [JoinTable.sourcePosition, JoinTable.destinationPosition].map { row.reference(layout.access[$0]) }
    }
}
