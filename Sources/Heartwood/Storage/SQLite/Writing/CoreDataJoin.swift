import Foundation

/// A join table of a new store. Facts, "many-to-many", "order".
///
/// (1) The table is named after the side whose entity has the lower number; of two sides of one entity, after the first by name.
/// (2) A column's name is unique among the join tables of a store.
/// (3) A relationship that is its own inverse has its owners in `REFLEXIVE`.
/// (4) Each ordered side has a column `Z_FOK_` behind the keys, the naming side's first.
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
        "CREATE TABLE \(table) ( \(columns.map { $0 + " INTEGER" }.joined(separator: ", ")), PRIMARY KEY (\(first), \(second)) )"
    }

    var index: SQLiteIndexDefinition {
        let name = "\(table)_\(second)_INDEX"
        return SQLiteIndexDefinition(
            name: name, statement: "CREATE INDEX \(name) ON \(table) (\(second), \(first))", terms: [.init(column: 1), .init(column: 0)])
    }

    var primaryKey: SQLiteIndexDefinition {
        SQLiteIndexDefinition(
            name: "sqlite_autoindex_\(table)_1", statement: nil, terms: [.init(column: 0), .init(column: 1)], isUnique: true)
    }

    /// - Parameter entities: by number.
    static func all(of entities: [NSEntityDescription], _ numbers: EntityNumbers) -> [CoreDataJoin] {
        var result: [CoreDataJoin] = [], known: Set<ObjectIdentifier> = [], names = JoinNames(numbers)
        for entity in entities {
            for (_, property) in entity.ownPropertiesByName {
                guard let relationship = property as? NSRelationshipDescription, relationship.isToMany, !relationship.isTransient,
                    let inverse = relationship.inverseRelationship, inverse.isToMany, known.insert(ObjectIdentifier(relationship)).inserted
                else { continue }
                known.insert(ObjectIdentifier(inverse))
                if let join = names.join(relationship, entity, inverse) { result.append(join) }
            }
        }
        return result
    }
}

/// Gives the columns of join tables their names.
private struct JoinNames {
    private let numbers: EntityNumbers
    private var taken: Set<String> = []

    init(_ numbers: EntityNumbers) { self.numbers = numbers }

    private mutating func unique(_ base: String) -> String {
        var name = base, count = 0
        while !taken.insert(name).inserted {
            count += 1
            name = base + String(count)
        }
        return name
    }

    /// - Returns: nil if the destination is not in the store.
    mutating func join(
        _ relationship: NSRelationshipDescription, _ owner: NSEntityDescription, _ inverse: NSRelationshipDescription
    ) -> CoreDataJoin? {
        guard let number = numbers.number(of: owner), let destination = relationship.destinationEntity.flatMap({ numbers.number(of: $0) }),
            let source = inverse.destinationEntity.flatMap({ numbers.number(of: $0) })
        else { return nil }
        let table = "Z_\(number)\(relationship.columnName)", isReflexive = inverse === relationship
        let members = unique("Z_\(destination)\(relationship.columnName)")
        let owners = isReflexive ? JoinTableNames.reflexive : unique("Z_\(source)\(inverse.columnName)")
        func order(_ relationship: NSRelationshipDescription, _ column: String) -> String? {
            relationship.isOrdered ? "Z_FOK_" + column.dropFirst(2) : nil
        }
        return CoreDataJoin(
            table: table, relationship: relationship, owner: owner, first: isReflexive ? members : owners,
            second: isReflexive ? owners : members, isReflexive: isReflexive, order: order(relationship, members),
            inverseOrder: isReflexive ? nil : order(inverse, owners))
    }
}
