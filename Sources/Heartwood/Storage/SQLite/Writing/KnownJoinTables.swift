import Foundation

/// The join tables of a store of Core Data's, for a new store of the same model and the same entity numbers.
struct KnownJoinTables {
    private let layout: CoreDataLayout

    /// - Returns: nil if the store has other numbers, or tables that do not fit the model.
    init?(_ entities: [NSEntityDescription], _ contents: CoreDataContents, path: String) {
        let computed = EntityNumbers.computed(for: entities)
        guard entities.allSatisfy({ computed.number(of: $0) == contents.numbers.number(of: $0) }),
            let layout = try? CoreDataLayout(entities, contents.numbers, contents.schema, path: path)
        else { return nil }
        self.layout = layout
    }

    /// - Parameters:
    ///   - relationship: one side; the table may be named after the other.
    ///   - owner: the entity that declares it.
    func join(_ relationship: NSRelationshipDescription, _ owner: NSEntityDescription) -> CoreDataJoin? {
        guard let own = names(relationship, owner), let inverse = relationship.inverseRelationship,
            let declarer = relationship.destinationEntity?.owner(of: inverse), let other = names(inverse, declarer)
        else { return nil }
        // The table's name shows the naming side.
        let isNaming = inverse === relationship || isNamed(own.table, after: relationship, owner) || !isNamed(own.table, after: inverse, declarer)
        let (side, entity, names, far) = isNaming ? (relationship, owner, own, other) : (inverse, declarer, other, own)
        return CoreDataJoin(
            side, entity, table: names.table, owners: names.source, members: names.destination, orders: (names.order, far.order))
    }

    private func isNamed(_ table: String, after relationship: NSRelationshipDescription, _ owner: NSEntityDescription) -> Bool {
        guard let number = layout.entity(owner)?.number else { return false }
        return ColumnNames.digits(of: table, behind: "Z_\(number)\(relationship.columnName)") != nil
    }

    private func names(_ relationship: NSRelationshipDescription, _ owner: NSEntityDescription) -> JoinTableNames? {
        guard let entity = layout.entity(owner), let index = owner.propertiesByIndex.firstIndex(where: { $0 === relationship }),
            case .join(let names)? = entity.places[index]
        else { return nil }
        return names
    }
}
