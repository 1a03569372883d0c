import Heartwood
import RecordLog

/// An entity's part of its family's table.
final class BoundEntity: Sendable {
    /// A column of the entity's rows.
    struct Field: Sendable {
        let property: Int
        /// The position in the stack's layout of a row.
        let position: Int
        let kind: PropertyKind
        /// The index among the family's columns.
        let column: Int
        let target: Target?
    }

    /// The rows that a reference may lead to.
    struct Target: Sendable {
        /// The column that has the entity's number beside the key; nil where only one entity is possible.
        let entityColumn: Int?
        /// The only entity's number.
        let entity: Int16
        /// nil where the entity is in no store of this configuration.
        let family: Int?
    }

    let table: EntityTable
    let family: Int
    let number: Int16
    let fields: [Field]
    /// By property index: the place in `fields`.
    private let places: [Int?]

    init(_ table: EntityTable, family: Int, number: Int16, fields: [Field]) {
        (self.table, self.family, self.number, self.fields) = (table, family, number, fields)
        var places = [Int?](repeating: nil, count: table.runtime.properties.count)
        for (place, field) in fields.enumerated() { places[field.property] = place }
        self.places = places
    }

    /// The field of a property; nil for one that the row does not have.
    func field(_ property: Int) -> Field? { places[property].map { fields[$0] } }

    func field(named name: String) -> Field? { table.runtime.index(of: name).flatMap(field) }
}
