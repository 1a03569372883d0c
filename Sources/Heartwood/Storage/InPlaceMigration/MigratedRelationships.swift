import Foundation
import RecordLog

/// The relationships of a model whose version changes: the join tables that stay, and the pairs that move to another storage.
///
/// docs/format/stack.md, says how a pair of inverses is stored: in a column, in link rows, or only in the inverse's column.
/// A change of the relationship in the model can change the storage.
struct MigratedRelationships {
    private struct KeptLink {
        let table: TableID
        let plan: LinkPlan
        /// The tables whose rows its links may lead from and to; nil where all of them may.
        let ends: (sources: Set<TableID>, destinations: Set<TableID>)?
    }

    /// The join tables to create.
    let added: [LinkPlan]
    let dropped: [TableID]
    /// The new names of renamed join tables.
    let names: [TableID: String]
    private let kept: [KeptLink]
    private let tables: MigratedTables
    private let pairs: RelationshipIndex

    /// The changed references of to-one relationships, by their table and name.
    typealias Moved = [TableID: [String: MovedReferences]]

    /// - Returns: nil where two relationships become inverses of each other or of themselves, or stop being so, while both existed before: no rule
    ///   says which pairs they have then.
    init?(_ tables: MigratedTables, _ entities: [NSEntityDescription], _ catalog: Catalog) {
        self.tables = tables
        let pairs = RelationshipIndex(tables, catalog)
        self.pairs = pairs
        var added: [LinkPlan] = [], kept: [KeptLink] = [], names: [TableID: String] = [:]
        var taken: Set<TableID> = []
        for plan in LinkPlan.all(of: entities) {
            guard pairs.isConsistent(plan.relationship) else { return nil }
            guard let known = Self.link(for: plan, pairs), taken.insert(known.table.id).inserted else {
                added.append(plan)
                continue
            }
            if known.table.name != plan.name { names[known.table.id] = plan.name }
            kept.append(KeptLink(table: known.table.id, plan: plan, ends: pairs.ends(of: plan, known.plan, catalog)))
        }
        for table in tables.list {
            for column in table.columns {
                guard let relationship = column.property as? NSRelationshipDescription else { continue }
                guard pairs.isConsistent(relationship) else { return nil }
            }
        }
        self.added = added
        self.kept = kept
        self.names = names
        let before = LinkPlan.all(of: tables.sources)
        dropped = before.compactMap { catalog.table(named: $0.name)?.id }.filter { !taken.contains($0) }
    }

    /// Returns the old join table that already has the pairs and the columns of the plan's join table.
    private static func link(for plan: LinkPlan, _ pairs: RelationshipIndex) -> (table: TableDefinition, plan: LinkPlan)? {
        let sources = pairs.sources(of: plan.relationship)
        guard let first = sources.first?.forwardLink,
            sources.allSatisfy({ $0.forwardLink?.table.id == first.table.id }),
            first.table.currentLayout.columns.map(\.type) == plan.columns.map(\.type)
        else { return nil }
        return first
    }

    // MARK: To-one relationships

    /// Returns the references that to-one relationships get from another storage, and those that they lose.
    func moved(in base: Snapshot) throws -> Moved {
        var result: Moved = [:]
        for table in tables.list {
            for column in table.columns {
                guard let relationship = column.property as? NSRelationshipDescription else { continue }
                let gone = column.kept == nil ? [] : pairs.gone(from: relationship, of: table, base.catalog)
                var references: [(row: UInt64, reference: RowReference)] = []
                if column.kept == nil {
                    try pairs.forEach(of: relationship, in: base) { pair in
                        if pair.owner.table == table.definition.id { references.append((pair.owner.row, pair.member)) }
                    }
                }
                let dangling = column.kept == nil ? [] : try pairs.dangling(of: relationship, in: table, base)
                guard !gone.isEmpty || !dangling.isEmpty || !references.isEmpty else { continue }
                result[table.definition.id, default: [:]][relationship.name] = try MovedReferences(
                    gone: gone, dangling: dangling, references) { row in
                    MigrationErrors.unsuited(
                        "The object in row \(row) would have two destinations of a to-one relationship", relationship, of: table.destination)
                }
            }
        }
        return result
    }

    // MARK: Link rows

    /// Writes the rows of new join tables, and deletes rows of kept ones whose ends no longer belong to the relationship.
    /// - Returns: whether any row was written.
    /// - Complexity: O(pairs log pairs) in time and O(pairs) in memory for a relationship whose storage changes.
    func write(_ transaction: Transaction) throws -> Bool {
        var hasWritten = false
        for link in kept {
            guard let ends = link.ends, let layout = transaction.catalog.table(link.table)?.currentLayout else { continue }
            try transaction.base.scan(link.table) { row in
                let source = row.reference(layout.access[JoinTable.sourcePosition])
                let destination = row.reference(layout.access[JoinTable.destinationPosition])
                if !ends.sources.contains(source.table) || !ends.destinations.contains(destination.table) {
                    hasWritten = try transaction.delete(row.reference) || hasWritten
                }
                return true
            }
        }
        for plan in added { hasWritten = try write(plan, transaction) || hasWritten }
        return hasWritten
    }

    private func write(_ plan: LinkPlan, _ transaction: Transaction) throws -> Bool {
        guard let table = transaction.catalog.table(named: plan.name) else { return false }
        var list: [RelationshipPairs.Pair] = []
        try pairs.forEach(of: plan.relationship, in: transaction.base) { list.append($0) }
        let positions = plan.relationship.isOrdered ? Self.positions(of: list) : []
        let inversePositions = plan.isOrderedTwice ? Self.positions(of: list.map(\.inverted)) : []
        let builder = RowBuilder()
        for (index, pair) in list.enumerated() {
            builder.begin(table.currentLayout)
            builder.set(JoinTable.sourcePosition, reference: pair.owner)
            builder.set(JoinTable.destinationPosition, reference: pair.member)
            if !positions.isEmpty { builder.set(JoinTable.orderPosition, int64: positions[index]) }
            if !inversePositions.isEmpty { builder.set(JoinTable.inverseOrderPosition, int64: inversePositions[index]) }
            let row = try transaction.newRow(in: table.id)
            try transaction.put(RowReference(table: table.id, row: row), body: builder.unsafeBody())
        }
        return !list.isEmpty
    }

    /// Numbers the members of each owner: in their old order, or by row where they had none.
    private static func positions(of pairs: [RelationshipPairs.Pair]) -> [Int64] {
        func key(_ pair: RelationshipPairs.Pair) -> (UInt64, Int64, UInt64) { (pair.owner.rawValue, pair.position ?? 0, pair.member.rawValue) }
        let order = pairs.indices.sorted { key(pairs[$0]) < key(pairs[$1]) }
        var positions = [Int64](repeating: 0, count: pairs.count)
        var last: (owner: RowReference, position: Int64)?
        for index in order {
            let owner = pairs[index].owner
            let position = last.flatMap { $0.owner == owner ? $0.position &+ LinkOrder.distance : nil } ?? 0
            positions[index] = position
            last = (owner, position)
        }
        return positions
    }
}
