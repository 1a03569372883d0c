import RecordLog

extension TableIndex {
    /// Returns the indexes of an entity's table that both the model and the store have.
    static func all(
        _ plans: [IndexPlan], of entity: NSEntityDescription, _ table: TableDefinition, _ catalog: Catalog
    ) -> [TableIndex] {
        let indexByName = entity.propertyIndexByName
        return plans.compactMap { plan in
            guard let found = plan.found(in: catalog, table) else { return nil }
            let parts = plan.specification.elements.compactMap { element -> Part? in
                let isAscending = element.isDescending != true
                if let name = element.column { return indexByName[name].map { Part(property: $0, isAscending: isAscending) } }
                guard let format = element.expression else { return nil }
                return Part(.expression(ExactText(format), isText: element.isText ?? false), isAscending: isAscending)
            }
            guard parts.count == plan.specification.elements.count else { return nil }
            return TableIndex(
                id: found.id, name: plan.name, parts: parts, isUnique: plan.isUnique, isText: plan.specification.terms != nil,
                partial: plan.specification.predicate.map(PartialIndex.init),
                siblings: plan.isUnique ? siblings(of: entity, constraint: plan.name, catalog) : [])
        }
    }

    private static func siblings(
        of entity: NSEntityDescription, constraint name: String, _ catalog: Catalog
    ) -> [(table: TableID, index: IndexID)] {
        func states(_ entity: NSEntityDescription) -> Bool {
            entity.allUniquenessConstraints.contains { RecordLogNames.unique($0) == name }
        }
        var root = entity
        while let parent = root.superentity, states(parent) { root = parent }
        return root.concreteFamily.compactMap { member in
            guard member !== entity, let table = catalog.table(named: member.name ?? ""),
                let index = catalog.indexes(on: table.id).first(where: { $0.name == name })
            else { return nil }
            return (table.id, index.id)
        }
    }
}

extension EntityTable {
    /// Returns a copy of the table with the indexes of a newer catalog.
    func reindexed(_ catalog: Catalog) -> EntityTable {
        guard let definition = catalog.table(id) else { return self }
        return EntityTable(
            id: id, runtime: runtime, layout: layout, positions: positions, members: members,
            indexes: TableIndex.all(IndexPlan.all(of: runtime.entity), of: runtime.entity, definition, catalog), inbound: inbound,
            derivations: derivations)
    }
}
