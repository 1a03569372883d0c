import Foundation
import Heartwood

/// The tables and columns in which Core Data's file of one store has the objects of a model.
///
/// "Facts" are the measured facts about Core Data's files that docs/internals/core-data-facts.md lists.
/// (1) A root entity has one table, with the rows of its subentities: `Z` and the name in capitals. Facts, "tables".
/// (2) A row's `Z_ENT` is the number of its entity, which only the file states. Facts, "Z_PRIMARYKEY".
/// (3) An attribute has one column, a composite one for each leaf and none for itself. Facts, "attributes", "composite".
/// (4) A to-one relationship has a column of keys, and `Z<n>_REL` of entity numbers where its destination has subentities. Facts, "to-one".
/// (5) A to-many relationship with a to-one inverse is that inverse's column. Facts, "order" has the column of its order.
/// (6) A to-many relationship without an inverse has the column `Z<n>REL` in its destination's table, n being the owner's number. Facts,
///     "to-many without inverse".
/// (7) Two to-many relationships have a join table: see `JoinTableNames`. Facts, "many-to-many".
/// (8) Transient properties and fetched ones have no column.
struct CoreDataLayout {
    /// One property's place in the file.
    enum Place: Equatable {
        case column(String)
        case toOne(String, entity: String?)
        /// In the table of the relationship's destination a column with the owner's key, and one for the order.
        case inverse(table: String, column: String, order: String?)
        case join(JoinTableNames)
    }

    struct Entity {
        let entity: NSEntityDescription
        let number: Int64
        let table: String
        /// By property index; nil for a property without a place.
        var places: [Place?]
    }

    /// By entity number.
    private(set) var entities: [Int64: Entity] = [:]
    /// The tables and columns that the file has and the model does not explain, and columns that have another name than predicted.
    private(set) var differences: [String] = []

    func entity(_ entity: NSEntityDescription) -> Entity? { entities.values.first { $0.entity === entity } }

    /// - Parameters:
    ///   - list: the entities of the store's configuration, of an immutable model.
    ///   - path: the store's path, for errors.
    /// - Throws: 134020 with the entity and the property that has no place in the file.
    init(_ list: [NSEntityDescription], _ numbers: EntityNumbers, _ schema: CoreDataSchema, path: String) throws {
        var builder = try CoreDataLayoutBuilder(list, numbers, schema, path: path)
        entities = try builder.build()
        differences = builder.differences()
    }
}

extension NSEntityDescription {
    /// Own properties with their indexes, in Core Data's order: by name, the elements of a composite in its place.
    var ownPropertiesByName: [(index: Int, property: NSPropertyDescription)] {
        let first = superentity?.propertiesByIndex.count ?? 0
        return propertiesByIndex.enumerated().dropFirst(first).map { ($0.offset, $0.element) }
            .sorted { NSEntityDescription.components($0.1).lexicographicallyPrecedes(NSEntityDescription.components($1.1)) }
    }

    private static func components(_ property: NSPropertyDescription) -> [String] { property.name.split(separator: ".").map(String.init) }

    /// The superentities from the root on, and the entity itself.
    var chain: [NSEntityDescription] { (superentity?.chain ?? []) + [self] }

    /// The entity and all entities below it.
    var family: [NSEntityDescription] { [self] + subentities.flatMap(\.family) }
}

extension NSPropertyDescription {
    /// The property's name as a column has it: facts, "attributes". An element of a composite has its own name.
    var columnName: String { (name.split(separator: ".").last.map(String.init) ?? name).uppercased() }
}
