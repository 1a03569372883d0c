import Foundation
import RecordLog

/// Builds the schema of an open store from its catalog and the model.
struct RecordLogSchemaReader {
    let catalog: Catalog
    let entities: [NSEntityDescription]
    /// The result of `DerivationReader`.
    let derivations: [ObjectIdentifier: [Derivation]]
    let plans: IndexPlans
    let store: any IdentifyingStore
    let firstSlot: UInt16
    /// Whether each value must have a column and each constraint an index: for a model other than the store's own.
    var demandsAll = false

    func read() throws -> RecordLogSchema {
        var joinTables: [String: JoinTable] = [:]
        var inbound: [(destination: NSEntityDescription, link: JoinTable)] = []
        for plan in LinkPlan.all(of: entities) {
            let link = try link(plan)
            joinTables[plan.name] = link
            if plan.isSeenFromOneSide, let destination = plan.relationship.destinationEntity { inbound.append((destination, link)) }
        }
        let tables = try plans.list.map { entity, plans in
            try table(
                of: entity, plans, links: joinTables, inbound: inbound.filter { entity.isKindOf(entity: $0.destination) }.map(\.link),
                derivations: derivations[ObjectIdentifier(entity)])
        }
        return RecordLogSchema(tables: tables, links: Array(joinTables.values))
    }

    private func missing(_ what: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError,
            demandsAll
                ? "The store has no \(what), which the model wants: its version cannot be ignored. Migrate it."
                : "The store has no \(what), though its model's version says it should; another program made it, or it is damaged.")
    }

    private func table(
        of entity: NSEntityDescription, _ plans: [IndexPlan], links: [String: JoinTable], inbound: [JoinTable], derivations: [Derivation]?
    ) throws -> EntityTable {
        let name = entity.name ?? ""
        guard let definition = catalog.table(named: name) else { throw missing("table for the entity \(name)") }
        let properties = entity.propertiesByIndex
        let columnIDs = properties.map { property in
            property.isTransient ? nil : definition.currentLayout.columns.first { $0.name == property.name }?.id
        }
        for property in properties where !property.isTransient {
            // Rows are encoded and decoded by the property's type.
            let column = definition.currentLayout.columns.first { $0.name == property.name }
            if let column, column.type != PropertyKind(property).columnType { throw missing("column \(name).\(property.name) of its type") }
            if demandsAll, column == nil, PropertyKind(property).columnType != nil { throw missing("column \(name).\(property.name)") }
        }
        for constraint in demandsAll ? entity.allUniquenessConstraints : [] {
            let index = RecordLogNames.unique(constraint)
            guard !catalog.indexes(on: definition.id).contains(where: { $0.name == index }) else { continue }
            throw missing("index of the uniqueness constraint over \(constraint.joined(separator: ", ")) of \(name)")
        }
        let highest = definition.layouts.map { Int($0.id.rawValue) }.max() ?? 0
        var accesses = [[ColumnAccess]?](repeating: nil, count: highest + 1)
        for layout in definition.layouts {
            accesses[Int(layout.id.rawValue)] = columnIDs.map { id in
                id.map { layout.access(of: $0) } ?? .absent
            }
        }
        let runtime = EntityRuntime(
            entity: entity, slot: firstSlot &+ definition.id.rawValue, store: store, accesses: accesses, of: definition.layouts)
        return EntityTable(
            id: definition.id, runtime: runtime, layout: definition.currentLayout,
            positions: columnIDs.map { $0.flatMap { definition.currentLayout.position(of: $0) } },
            members: try properties.map { try memberSource(of: $0, entity: entity, links: links) },
            indexes: TableIndex.all(plans, of: entity, definition, catalog),
            inbound: inbound, derivations: derivations)
    }

    private func memberSource(
        of property: NSPropertyDescription, entity: NSEntityDescription, links: [String: JoinTable]
    ) throws -> MemberSource? {
        guard let relationship = property as? NSRelationshipDescription, relationship.isToMany, !relationship.isTransient
        else { return nil }
        if LinkPlan.isNeeded(relationship) {
            let owner = entity.owner(of: relationship)
            if LinkPlan.isForward(relationship, of: owner) {
                guard let table = links[LinkPlan(entity: owner, relationship: relationship).name] else { return nil }
                return .link(table, isForward: true)
            }
            guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity,
                let table = links[LinkPlan(entity: destination.owner(of: inverse), relationship: inverse).name]
            else { return nil }
            return .link(table, isForward: false)
        }
        guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity else { return nil }
        let sources = destination.concreteFamily.compactMap { member -> (table: TableID, index: IndexID)? in
            guard let table = catalog.table(named: member.name ?? ""),
                let index = catalog.indexes(on: table.id).first(where: { $0.name == RecordLogNames.reference(inverse.name) })
            else { return nil }
            return (table.id, index.id)
        }
        return .inverse(sources)
    }

    private func link(_ plan: LinkPlan) throws -> JoinTable {
        guard let definition = catalog.table(named: plan.name) else { throw missing("join table \(plan.name)") }
        let indexes = catalog.indexes(on: definition.id)
        guard let forward = indexes.first(where: { $0.name == RecordLogNames.linkForward }),
            let backward = indexes.first(where: { $0.name == RecordLogNames.linkBackward }),
            definition.currentLayout.columns.map(\.type) == plan.columns.map(\.type)
        else { throw missing("index of the join table \(plan.name)") }
        let inverse = indexes.first { $0.name == RecordLogNames.linkInverse }
        guard (inverse != nil) == plan.isOrderedTwice else { throw missing("second order in the join table \(plan.name)") }
        return JoinTable(
            id: definition.id, layout: definition.currentLayout, forward: forward.id, backward: backward.id, inverse: inverse?.id,
            isOrdered: plan.relationship.isOrdered, isExclusive: plan.relationship.inverseRelationship.map { !$0.isToMany } ?? false)
    }
}
