import Foundation
import Heartwood

/// The tables that a new store of Core Data's has for a model, with their statements to the letter.
///
/// `CoreDataLayoutBuilder` names the columns, for the reader and for this. "Facts" are those of docs/internals/core-data-facts.md.
/// (1) A table has Z_PK, Z_ENT, Z_OPT, then its other columns. Facts, "order of columns".
/// (2) Each key column has an index, a hierarchy's table one over Z_ENT, each uniqueness constraint and each fetch index one. Facts, "indexes".
/// (3) A fetch index over one relationship is that relationship's own index. Indexes over expressions and in several dimensions, and those with
///     a condition that SQL does not say exactly (`PartialIndexCondition`), are not made.
struct CoreDataTables {
    struct Table {
        let name: String
        /// By number.
        let entities: [NSEntityDescription]
        let columns: [CoreDataColumn]
        let statement: String
        let indexes: [SQLiteIndexDefinition]
    }

    /// By the numbers of their roots.
    let tables: [Table]
    let joins: [CoreDataJoin]
    let numbers: EntityNumbers

    /// The columns that stand before a table's others.
    static let ownColumns = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]

    /// - Parameter known: the names of join tables in a store of Core Data's with the same model.
    /// - Throws: 134020 for two entities that need the same table.
    init(_ entities: [NSEntityDescription], _ numbers: EntityNumbers, like known: KnownJoinTables? = nil, path: String) throws {
        var builder = try CoreDataLayoutBuilder(entities, numbers, nil, path: path)
        let predicted = try builder.predict()
        let ordered = numbers.sorted(entities)
        var names: [String] = [], families: [String: [NSEntityDescription]] = [:]
        for entity in ordered {
            let name = CoreDataLayoutBuilder.table(of: entity)
            if families[name] == nil { names.append(name) }
            if let first = families[name]?.first, first.chain[0] !== entity.chain[0] {
                throw CoreDataFileError.misfit(
                    path, entity.name ?? "", nil, "the entities \(first.name ?? "") and \(entity.name ?? "") both need the table \(name)")
            }
            families[name, default: []].append(entity)
        }
        self.numbers = numbers
        joins = CoreDataJoin.all(of: ordered, numbers, like: known)
        tables = names.map { name in
            let columns = CoreDataColumn.sorted(predicted[name] ?? [], numbers)
            return Self.table(name, families[name] ?? [], columns, claims: predicted[name] ?? [])
        }
    }

    private static func table(
        _ name: String, _ entities: [NSEntityDescription], _ columns: [CoreDataColumn], claims: [CoreDataColumn]
    ) -> Table {
        let parts = ownColumns + columns.map { "\(SQLText.name($0.name)) \($0.declaredType)" }
        return Table(
            name: name, entities: entities, columns: columns, statement: "CREATE TABLE \(SQLText.name(name)) ( \(parts.joined(separator: ", ")) )",
            indexes: CoreDataIndexes(table: name, entities: entities, columns: columns, claims: claims).all)
    }

    /// The same tables as a file would show them.
    var schema: CoreDataSchema {
        var found: [String: [CoreDataSchema.Column]] = [:]
        func column(_ name: String, _ type: String = "INTEGER") -> CoreDataSchema.Column { CoreDataSchema.Column(name: name, declaredType: type) }
        for table in tables {
            found[table.name] = ["Z_PK", "Z_ENT", "Z_OPT"].map { column($0) } + table.columns.map { column($0.name, $0.declaredType) }
        }
        for join in joins { found[join.table] = join.columns.map { column($0) } }
        return CoreDataSchema(tables: found, indexes: Set((tables.flatMap(\.indexes) + joins.map(\.index)).map(\.name)))
    }
}

extension EntityNumbers {
    func sorted(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        entities.map { (number(of: $0) ?? 0, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
