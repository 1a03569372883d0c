import RecordLog

/// What of a table's rows is watched, since attributes are derived from it, and how to get to the rows that have these.
struct DerivationWatch: Sendable {
    enum Way: Sendable {
        /// The row itself derives something over its to-one relationships, or has members that are counted.
        case own
        /// The row is a member of the one that a to-one column of it names.
        case member(column: Int, of: Int)
        /// The row is a pair of a to-many relationship's.
        case pair(of: Int, isForward: Bool)
        /// One step after the other, from rows to those that refer to them.
        case back([MemberSource])
    }

    let way: Way
    /// The columns whose change matters; that a row comes or goes always does.
    var properties: [Int]
}

/// What a store's derived attributes make necessary after rows were written. Made when a store is loaded, and only where its model has any.
struct DerivationWatches: Sendable {
    private(set) var byTable: [(table: EntityTable?, id: TableID, watches: [DerivationWatch])] = []
    private let schema: [EntityTable]

    /// - Returns: nil where nothing is derived.
    init?(_ tables: [EntityTable]) {
        guard tables.contains(where: { $0.derivations != nil }) else { return nil }
        schema = tables
        var seen: Set<ObjectIdentifier> = []
        for table in tables {
            for derivation in table.derivations ?? [] where seen.insert(ObjectIdentifier(derivation.attribute)).inserted {
                watch(derivation, from: table)
            }
        }
    }

    /// The watches of one table.
    subscript(table: TableID) -> [DerivationWatch] { byTable.first { $0.id == table }?.watches ?? [] }

    private mutating func watch(_ derivation: Derivation, from table: EntityTable) {
        let owners = tables(of: derivation.attribute.holder)
        switch derivation.form {
        case .now: return
        case .copy(let source), .function(_, let source):
            guard let first = source.path.first else { return }
            for owner in owners { add(DerivationWatch(way: .own, properties: [first.index]), to: owner) }
            var back: [MemberSource] = []
            for (position, step) in source.path.enumerated() {
                back.insert(.inverse(references(step)), at: 0)
                let next = position + 1 < source.path.count ? source.path[position + 1].index : source.attribute.index
                for table in tables(of: step.destinationEntity) {
                    add(DerivationWatch(way: .back(back), properties: [next]), to: table)
                }
            }
        case .count(let relationship): watchMembers(relationship, nil, of: owners, like: table)
        case .sum(let relationship, let source): watchMembers(relationship, source, of: owners, like: table)
        }
    }

    private mutating func watchMembers(
        _ relationship: NSRelationshipDescription, _ source: Derivation.Source?, of owners: [EntityTable], like table: EntityTable
    ) {
        for owner in owners { add(DerivationWatch(way: .own, properties: []), to: owner) }
        let properties = source.map { [$0.attribute.index] } ?? []
        let members = tables(of: relationship.destinationEntity)
        switch table.members[relationship.index] {
        case .inverse?:
            guard let column = relationship.inverseRelationship?.index else { return }
            for member in members {
                add(DerivationWatch(way: .member(column: column, of: relationship.index), properties: properties), to: member)
            }
        case .link(let link, let isForward)?:
            add(DerivationWatch(way: .pair(of: relationship.index, isForward: isForward), properties: []), to: nil, link.id)
            guard !properties.isEmpty else { return }
            let back = DerivationWatch(way: .back([.link(link, isForward: !isForward)]), properties: properties)
            for member in members { add(back, to: member) }
        case nil: return
        }
    }

    private func tables(of entity: NSEntityDescription?) -> [EntityTable] {
        entity.map { entity in schema.filter { $0.runtime.entity.isKindOf(entity: entity) } } ?? []
    }

    /// Where rows are found that refer to others by a to-one relationship.
    private func references(_ relationship: NSRelationshipDescription) -> [(table: TableID, index: IndexID)] {
        let name = RecordLogNames.reference(relationship.name)
        return tables(of: relationship.holder).compactMap { table in
            table.indexes.first { $0.name == name }.map { (table.id, $0.id) }
        }
    }

    private mutating func add(_ watch: DerivationWatch, to table: EntityTable?, _ link: TableID? = nil) {
        guard let id = table?.id ?? link else { return }
        let index = byTable.firstIndex { $0.id == id } ?? byTable.count
        if index == byTable.count { byTable.append((table, id, [])) }
        // A member that is counted twice would count twice.
        if let known = byTable[index].watches.firstIndex(where: { $0.way.isSame(as: watch.way) }) {
            byTable[index].watches[known].properties += watch.properties
        } else {
            byTable[index].watches.append(watch)
        }
    }
}

extension DerivationWatch.Way {
    /// Whether the two lead from a row to the same changes.
    fileprivate func isSame(as other: DerivationWatch.Way) -> Bool {
        switch (self, other) {
        case (.own, .own): true
        case (.member(let a, let p), .member(let b, let q)): a == b && p == q
        case (.pair(let p, let a), .pair(let q, let b)): a == b && p == q
        default: false
        }
    }
}
