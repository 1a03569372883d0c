import RecordLog

/// The columns of a table from which attributes are derived, and the way from a changed row to the rows with these attributes.
struct DerivationWatch: Sendable {
    enum Way: Sendable {
        /// The row itself derives a value through to-one relationships, or has members that are counted.
        case own
        /// The row is a member of the owner that its to-one column names.
        case member(column: Int, of: Int)
        /// The row is a link row of a to-many relationship.
        case pair(of: Int, isForward: Bool)
        /// Steps from rows to the rows that refer to them.
        case back([MemberSource])
    }

    let way: Way
    /// The columns whose change matters. Insertion and deletion of the row always do.
    var properties: [Int]
}

/// The watches of a store's derived attributes. Built when a store is loaded whose model has derived attributes.
struct DerivationWatches: Sendable {
    private(set) var byTable: [(table: EntityTable?, id: TableID, watches: [DerivationWatch])] = []
    private let schema: [EntityTable]

    /// - Returns: nil where the model has no derived attributes.
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

    /// Returns the indexes that find rows by a to-one relationship's destination.
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
        // A duplicate watch would count a member twice.
        if let known = byTable[index].watches.firstIndex(where: { $0.way.isSame(as: watch.way) }) {
            byTable[index].watches[known].properties += watch.properties
        } else {
            byTable[index].watches.append(watch)
        }
    }
}

extension DerivationWatch.Way {
    /// Whether both give the same changes for a row.
    fileprivate func isSame(as other: DerivationWatch.Way) -> Bool {
        switch (self, other) {
        case (.own, .own): true
        case (.member(let a, let p), .member(let b, let q)): a == b && p == q
        case (.pair(let p, let a), .pair(let q, let b)): a == b && p == q
        default: false
        }
    }
}
