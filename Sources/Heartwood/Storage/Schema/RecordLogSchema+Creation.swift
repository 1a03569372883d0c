import Foundation
import RecordLog

/// A join table that a model needs: one for each pair of inverses.
package struct LinkPlan {
    package let entity: NSEntityDescription
    package let relationship: NSRelationshipDescription

    var name: String { RecordLogNames.link(entity.name ?? "", relationship.name) }

    /// Whether both sides are ordered.
    package var isOrderedTwice: Bool {
        guard let inverse = relationship.inverseRelationship, inverse !== relationship else { return false }
        return relationship.isOrdered && inverse.isToMany && inverse.isOrdered
    }

    /// Whether the destination has no to-many property with the same pairs.
    var isSeenFromOneSide: Bool {
        guard let inverse = relationship.inverseRelationship else { return true }
        // A to-one inverse has its own column.
        return inverse === relationship || !inverse.isToMany
    }

    /// Source, destination, and a position for each order.
    var columns: [(name: String, type: ColumnType)] {
        var columns: [(name: String, type: ColumnType)] = [("source", .reference), ("destination", .reference)]
        if relationship.isOrdered { columns.append(("position", .int64)) }
        if isOrderedTwice { columns.append(("inversePosition", .int64)) }
        return columns
    }

    /// Returns each join table that the entities need, once.
    package static func all(of entities: [NSEntityDescription]) -> [LinkPlan] {
        var plans: [LinkPlan] = []
        var seen: Set<String> = []
        for entity in entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for case let relationship as NSRelationshipDescription in entity.propertiesByIndex where isNeeded(relationship) {
                let owner = entity.owner(of: relationship)
                guard isForward(relationship, of: owner) else { continue }
                let plan = LinkPlan(entity: owner, relationship: relationship)
                if seen.insert(plan.name).inserted { plans.append(plan) }
            }
        }
        return plans
    }

    /// Whether a join table stores a to-many relationship; otherwise the inverse's column does.
    static func isNeeded(_ relationship: NSRelationshipDescription) -> Bool {
        guard relationship.isToMany, !relationship.isTransient else { return false }
        guard let inverse = relationship.inverseRelationship else { return true }
        return inverse.isToMany || relationship.isOrdered
    }

    /// Whether a relationship is the side whose objects are the links' sources: the ordered side, else the first by entity name and property name.
    /// The name is that of the entity that declares the side, so that both sides give the same answer.
    ///
    /// Part of the format: docs/format/stack.md.
    /// - Parameter entity: the entity that declares `relationship`.
    static func isForward(_ relationship: NSRelationshipDescription, of entity: NSEntityDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship, inverse !== relationship else { return true }
        guard isNeeded(inverse) else { return true }
        if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
        let mine = entity.name ?? "", theirs = relationship.destinationEntity?.owner(of: inverse).name ?? ""
        return mine == theirs
            ? !inverse.name.utf8.lexicographicallyPrecedes(relationship.name.utf8) : mine.utf8.lexicographicallyPrecedes(theirs.utf8)
    }
}

extension NSEntityDescription {
    /// Returns the entity that declares a property: the topmost of this entity and its superentities that has it.
    package func owner(of property: NSPropertyDescription) -> NSEntityDescription {
        var entity = self
        while let parent = entity.superentity, parent.propertiesByIndex.contains(where: { $0 === property }) { entity = parent }
        return entity
    }

    /// Returns the concrete entities, sorted by name.
    static func concrete(among entities: [NSEntityDescription]) -> [NSEntityDescription] {
        entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }
}

/// Takes definitions of tables and indexes.
package protocol TableDefining {
    func defineTable(name: String, columns: [(name: String, type: ColumnType)]) throws(StoreError) -> TableDefinition
    func defineIndex(named name: String, on table: TableID, parts: [IndexPart], extractorName: String?) throws(StoreError) -> IndexID
}

extension Transaction: TableDefining {}
extension CatalogDraft: TableDefining {}

extension TableDefining {
    fileprivate func defineIndex(named name: String, on table: TableID, parts: [IndexPart]) throws(StoreError) -> IndexID {
        try defineIndex(named: name, on: table, parts: parts, extractorName: nil)
    }
}

/// Writes a model's tables and indexes into a new store.
package struct RecordLogSchemaWriter<Target: TableDefining> {
    let transaction: Target
    let entities: [NSEntityDescription]

    package init(transaction: Target, entities: [NSEntityDescription]) {
        (self.transaction, self.entities) = (transaction, entities)
    }

    package func write() throws {
        for entity in NSEntityDescription.concrete(among: entities) { try defineTable(of: entity) }
        for plan in LinkPlan.all(of: entities) { try defineLink(plan) }
    }

    func defineTable(of entity: NSEntityDescription) throws {
        var columns: [(name: String, type: ColumnType)] = []
        for property in entity.propertiesByIndex where !property.isTransient {
            if let type = PropertyKind(property).columnType { columns.append((property.name, type)) }
        }
        let table = try transaction.defineTable(name: entity.name ?? "", columns: columns)
        for plan in IndexPlan.all(of: entity) {
            guard let made = plan.definition(table.currentLayout) else { continue }
            _ = try transaction.defineIndex(named: plan.name, on: table.id, parts: made.parts, extractorName: made.extractorName)
        }
    }

    func defineLink(_ plan: LinkPlan) throws {
        let isOrdered = plan.relationship.isOrdered
        let table = try transaction.defineTable(name: plan.name, columns: plan.columns)
        let ids = table.currentLayout.columns.map(\.id)
        var forward = [IndexPart(column: ids[JoinTable.sourcePosition], ascending: true)]
        if isOrdered { forward.append(IndexPart(column: ids[JoinTable.orderPosition], ascending: true)) }
        forward.append(IndexPart(column: ids[JoinTable.destinationPosition], ascending: true))
        _ = try transaction.defineIndex(named: RecordLogNames.linkForward, on: table.id, parts: forward)
        _ = try transaction.defineIndex(
            named: RecordLogNames.linkBackward, on: table.id,
            parts: [
                IndexPart(column: ids[JoinTable.destinationPosition], ascending: true),
                IndexPart(column: ids[JoinTable.sourcePosition], ascending: true),
            ])
        guard plan.isOrderedTwice else { return }
        let parts = [JoinTable.destinationPosition, JoinTable.inverseOrderPosition, JoinTable.sourcePosition]
        _ = try transaction.defineIndex(
            named: RecordLogNames.linkInverse, on: table.id, parts: parts.map { IndexPart(column: ids[$0], ascending: true) })
    }
}
