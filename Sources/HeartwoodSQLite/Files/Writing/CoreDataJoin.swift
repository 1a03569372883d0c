import Foundation
import Heartwood

/// A join table of a new store. Facts, "many-to-many", "order".
///
/// (1) The entities are gone through by name, each with the relationships that it inherits. The side that is met first names the table. Two sides
///     of one entity have no rule that is known; the last by name is taken.
/// (2) A column's name is unique among the join tables of a store. Digits are given by the numbers of the entities that declare the relationships,
///     then by name.
/// (3) A relationship that is its own inverse has its owners in `REFLEXIVE`.
/// (4) Each ordered side has a column `Z_FOK_` behind the keys, the naming side's first.
/// (5) A store of Core Data's with the same model knows its names, so these are taken where there is one.
struct CoreDataJoin {
    let table: String
    /// The relationship that the table is named after, and the entity that declares it.
    let relationship: NSRelationshipDescription
    let owner: NSEntityDescription
    /// The columns with the keys, in the order of the statement.
    let first: String
    let second: String
    /// The column with the keys of the naming side's owners is `first`; in a table with `REFLEXIVE` it is `second`.
    let isReflexive: Bool
    /// The column with the order of the naming side's members.
    let order: String?
    /// The column with the order of the other side's.
    let inverseOrder: String?

    var columns: [String] { [first, second] + [order, inverseOrder].compactMap(\.self) }

    var statement: String {
        "CREATE TABLE \(SQLText.name(table)) ( \(columns.map { SQLText.name($0) + " INTEGER" }.joined(separator: ", ")), "
            + "PRIMARY KEY (\(SQLText.name(first)), \(SQLText.name(second))) )"
    }

    var index: SQLiteIndexDefinition {
        let name = "\(table)_\(second)_INDEX"
        return SQLiteIndexDefinition(
            name: name, statement: "CREATE INDEX \(SQLText.name(name)) ON \(SQLText.name(table)) (\(SQLText.name(second)), \(SQLText.name(first)))",
            terms: [.init(column: 1), .init(column: 0)])
    }

    var primaryKey: SQLiteIndexDefinition {
        SQLiteIndexDefinition(
            name: "sqlite_autoindex_\(table)_1", statement: nil, terms: [.init(column: 0), .init(column: 1)], isUnique: true)
    }

    /// - Parameters:
    ///   - entities: by number.
    ///   - known: the names in a store of Core Data's with the same model.
    static func all(of entities: [NSEntityDescription], _ numbers: EntityNumbers, like known: KnownJoinTables? = nil) -> [CoreDataJoin] {
        let columns = JoinColumns(entities, numbers)
        return sides(of: entities).compactMap { relationship, owner in
            known?.join(relationship, owner) ?? predicted(relationship, owner, numbers, columns)
        }
    }

    /// The naming side of each join table, and the entity that declares it, by number and name.
    private static func sides(of entities: [NSEntityDescription]) -> [(NSRelationshipDescription, NSEntityDescription)] {
        var isKnown: Set<ObjectIdentifier> = [], naming: Set<ObjectIdentifier> = []
        for entity in EntityNumbers.sorted(entities) {
            for relationship in entity.propertiesByIndex.compactMap(\.joined).sorted(by: { $0.name > $1.name })
            where isKnown.insert(ObjectIdentifier(relationship)).inserted {
                naming.insert(ObjectIdentifier(relationship))
                relationship.inverseRelationship.map { _ = isKnown.insert(ObjectIdentifier($0)) }
            }
        }
        return entities.flatMap { entity in
            entity.ownPropertiesByName.compactMap(\.property.joined).filter { naming.contains(ObjectIdentifier($0)) }.map { ($0, entity) }
        }
    }

    /// - Returns: nil if the destination is not in the store.
    private static func predicted(
        _ relationship: NSRelationshipDescription, _ owner: NSEntityDescription, _ numbers: EntityNumbers, _ columns: JoinColumns
    ) -> CoreDataJoin? {
        guard let inverse = relationship.inverseRelationship, let number = numbers.number(of: owner),
            let members = columns.name(of: relationship), let owners = columns.name(of: inverse)
        else { return nil }
        return CoreDataJoin(
            relationship, owner, table: "Z_\(number)\(relationship.columnName)", owners: owners, members: members,
            orders: ("Z_FOK_" + members.dropFirst(2), "Z_FOK_" + owners.dropFirst(2)))
    }

    /// - Parameter orders: the columns of the naming side's order and of the other side's, which only ordered sides have.
    init(
        _ relationship: NSRelationshipDescription, _ owner: NSEntityDescription, table: String, owners: String, members: String,
        orders: (String?, String?)
    ) {
        (self.table, self.relationship, self.owner) = (table, relationship, owner)
        let inverse = relationship.inverseRelationship
        isReflexive = inverse === relationship
        first = isReflexive ? members : owners
        second = isReflexive ? JoinTableNames.reflexive : members
        order = relationship.isOrdered ? orders.0 : nil
        inverseOrder = !isReflexive && inverse?.isOrdered == true ? orders.1 : nil
    }
}

extension NSPropertyDescription {
    /// The relationship, if a join table has its pairs.
    fileprivate var joined: NSRelationshipDescription? {
        guard let relationship = self as? NSRelationshipDescription, relationship.isToMany, !relationship.isTransient,
            relationship.inverseRelationship?.isToMany == true
        else { return nil }
        return relationship
    }
}

/// The columns of the keys of relationships' destinations in join tables.
private struct JoinColumns {
    private var names: [ObjectIdentifier: String] = [:]

    /// - Parameter entities: by number.
    init(_ entities: [NSEntityDescription], _ numbers: EntityNumbers) {
        var taken: Set<String> = []
        for relationship in entities.flatMap({ $0.ownPropertiesByName.compactMap(\.property.joined) }) {
            guard let number = relationship.destinationEntity.flatMap({ numbers.number(of: $0) }) else { continue }
            let base = "Z_\(number)\(relationship.columnName)"
            var name = base, count = 0
            while !taken.insert(name).inserted {
                count += 1
                name = base + String(count)
            }
            names[ObjectIdentifier(relationship)] = name
        }
    }

    func name(of relationship: NSRelationshipDescription) -> String? { names[ObjectIdentifier(relationship)] }
}
