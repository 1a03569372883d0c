import Foundation
import Heartwood

/// The entity numbers and the join tables of a store of Core Data's, for a new store of the same model.
struct KnownJoinTables {
    private let layout: CoreDataLayout
    let numbers: EntityNumbers

    /// - Returns: nil if the store has tables that do not fit the model.
    init?(_ entities: [NSEntityDescription], _ contents: CoreDataContents, path: String) {
        guard let layout = try? CoreDataLayout(entities, contents.numbers, contents.schema, path: path) else { return nil }
        self.layout = layout
        let entries = entities.compactMap { entity in
            contents.numbers.number(of: entity).map { number in
                let parent = entity.superentity.flatMap(contents.numbers.number(of:)) ?? 0
                return EntityNumbers.Entry(number: number, name: entity.name ?? "", parent: parent, keyMax: 0)
            }
        }
        numbers = EntityNumbers(entries.sorted { $0.number < $1.number })
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
