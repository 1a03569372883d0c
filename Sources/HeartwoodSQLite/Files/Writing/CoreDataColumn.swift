import Foundation
import Heartwood

/// A column of a new store's table, and the property that it has.
struct CoreDataColumn {
    let name: String
    /// The entity that declares the property.
    let owner: NSEntityDescription
    let property: NSPropertyDescription
    let use: CoreDataLayoutBuilder.Use

    /// Whether the rows of an entity may have a value here.
    func belongs(to entity: NSEntityDescription) -> Bool { entity.isKindOf(entity: holder) }

    /// The entity whose rows have the column: a to-many relationship without an inverse is a column of its destination.
    var holder: NSEntityDescription {
        guard let relationship = property as? NSRelationshipDescription, relationship.isToMany else { return owner }
        return relationship.destinationEntity ?? owner
    }

    /// A reference to another row: it has an index.
    var isKey: Bool { use == .owner || use == .value && property is NSRelationshipDescription }

    /// Facts, "types".
    var declaredType: String { use == .value ? PropertyKind(property).sqlite.declaredType : "INTEGER" }

    /// The column's group in the order of a table's columns. Facts, "order of columns".
    var group: Int {
        switch use {
        case .owner: SQLiteCodec.keys
        case .entityKey: 2
        case .order: 9
        case .value: PropertyKind(property).sqlite.group
        }
    }

    /// Columns of these groups stand by entity first. The others stand by group first.
    static let groupsOfIntegers = 0..<9

    /// Facts, "order of columns". The sort keeps the order of claims among equal columns.
    static func sorted(_ columns: [CoreDataColumn], _ numbers: EntityNumbers) -> [CoreDataColumn] {
        columns.enumerated().map { index, column in
            let number = numbers.number(of: column.holder) ?? 0, group = column.group
            let key = groupsOfIntegers.contains(group) ? (0, number, Int64(group)) : (group, Int64(0), number)
            return (key: key, index: index, column: column)
        }.sorted { ($0.key.0, $0.key.1, $0.key.2, $0.index) < ($1.key.0, $1.key.1, $1.key.2, $1.index) }.map(\.column)
    }
}
