import Foundation
import RecordLog

/// The storage of one entity's relationship before the migration.
struct RelationshipPairs {
    struct Pair {
        let owner: RowReference
        let member: RowReference
        /// The member's position among the owner's members, and the owner's among the member's; nil where there was no order.
        let position: Int64?
        let inversePosition: Int64?
    }

    /// The owner's table.
    let table: MigratedTable
    /// The relationship in the old model.
    let relationship: NSRelationshipDescription
    private let storage: Storage

    private enum Storage {
        case column(ColumnID)
        case link(TableDefinition, isForward: Bool, LinkPlan)
        /// The columns of the inverse.
        case inverse([(table: TableDefinition, column: ColumnID)])
    }

    /// - Returns: nil where the catalog lacks a table or column of the old model.
    init?(_ relationship: NSRelationshipDescription, of table: MigratedTable, _ catalog: Catalog) {
        self.table = table
        self.relationship = relationship
        guard relationship.isToMany else {
            guard let column = table.definition.currentLayout.columns.first(where: { $0.name == relationship.name }) else { return nil }
            storage = .column(column.id)
            return
        }
        let inverse = relationship.inverseRelationship
        guard LinkPlan.isNeeded(relationship) else {
            guard let inverse, let destination = relationship.destinationEntity else { return nil }
            storage = .inverse(destination.concreteFamily.compactMap { member in
                guard let table = catalog.table(named: member.name ?? ""),
                    let column = table.currentLayout.columns.first(where: { $0.name == inverse.name })
                else { return nil }
                return (table, column.id)
            })
            return
        }
        let owner = table.source.owner(of: relationship)
        let isForward = LinkPlan.isForward(relationship, of: owner)
        var plan = LinkPlan(entity: owner, relationship: relationship)
        if !isForward {
            guard let inverse, let other = relationship.destinationEntity?.owner(of: inverse) else { return nil }
            plan = LinkPlan(entity: other, relationship: inverse)
        }
        guard let link = catalog.table(named: plan.name) else { return nil }
        storage = .link(link, isForward: isForward, plan)
    }

    /// Whether a join table stores the pairs, and so their order.
    var isLinked: Bool {
        if case .link = storage { true } else { false }
    }

    /// The join table whose sources are the owners, and its plan; nil where there is none.
    var forwardLink: (table: TableDefinition, plan: LinkPlan)? {
        guard case .link(let table, true, let plan) = storage else { return nil }
        return (table, plan)
    }

    /// Calls `body` with each pair.
    /// - Complexity: O(rows of the tables that store the pairs).
    func forEach(in base: Snapshot, _ body: (Pair) throws -> Void) throws {
        switch storage {
        case .column(let column):
            let accesses = Self.accesses(column, table.definition)
            try base.scan(table.definition.id) { row in
                if let member = Self.reference(accesses, row), try isThere(member, base) {
                    try body(Pair(owner: row.reference, member: member, position: nil, inversePosition: nil))
                }
                return true
            }
        case .inverse(let sources):
            for (member, column) in sources {
                let accesses = Self.accesses(column, member)
                try base.scan(member.id) { row in
                    if let owner = Self.reference(accesses, row), owner.table == table.definition.id {
                        try body(Pair(owner: owner, member: row.reference, position: nil, inversePosition: nil))
                    }
                    return true
                }
            }
        case .link(let link, let isForward, let plan):
            try base.scan(link.id) { row in
                let pair = Self.pair(row, link.currentLayout, plan, isForward: isForward)
                if pair.owner.table == table.definition.id { try body(pair) }
                return true
            }
        }
    }

    /// A deletion leaves the references of a relationship without an inverse as they are. No other kind of relationship may hold such a reference.
    private func isThere(_ member: RowReference, _ base: Snapshot) throws -> Bool {
        try relationship.inverseRelationship != nil || base.unsafeRow(member) != nil
    }

    /// Returns the references to missing rows in a to-one relationship without an inverse.
    func dangling(in base: Snapshot) throws -> Set<RowReference> {
        guard case .column(let column) = storage, relationship.inverseRelationship == nil else { return [] }
        let accesses = Self.accesses(column, table.definition)
        var result: Set<RowReference> = []
        try base.scan(table.definition.id) { row in
            if let member = Self.reference(accesses, row), try base.unsafeRow(member) == nil { result.insert(member) }
            return true
        }
        return result
    }

    private static func pair(_ row: UnsafeRowView, _ layout: RowLayout, _ plan: LinkPlan, isForward: Bool) -> Pair {
        let source = row.reference(layout.access[JoinTable.sourcePosition])
        let destination = row.reference(layout.access[JoinTable.destinationPosition])
        let position = plan.relationship.isOrdered ? row.int64(layout.access[JoinTable.orderPosition]) : nil
        let inversePosition = plan.isOrderedTwice ? row.int64(layout.access[JoinTable.inverseOrderPosition]) : nil
        return isForward
            ? Pair(owner: source, member: destination, position: position, inversePosition: inversePosition)
            : Pair(owner: destination, member: source, position: inversePosition, inversePosition: position)
    }

    /// Returns the column's accesses by layout.
    private static func accesses(_ column: ColumnID, _ table: TableDefinition) -> [ColumnAccess] {
        table.layouts.map { layout in layout.position(of: column).map { layout.access[$0] } ?? .absent }
    }

    private static func reference(_ accesses: [ColumnAccess], _ row: UnsafeRowView) -> RowReference? {
        let access = accesses[Int(row.layoutID.rawValue)]
        guard !access.isAbsent, !row.isNull(access) else { return nil }
        let reference = row.reference(access)
        return reference.isNone ? nil : reference
    }
}

extension RelationshipPairs.Pair {
    /// The pair as the inverse sees it.
    var inverted: Self { Self(owner: member, member: owner, position: inversePosition, inversePosition: position) }
}
