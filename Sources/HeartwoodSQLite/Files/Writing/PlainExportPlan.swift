import Foundation
import Heartwood
import RecordLog

/// The plan of a new file for people who want SQL: readable names, foreign keys, ordinary types.
///
/// (1) A hierarchy of entities has one table, named after its root. Where it has several entities, the column `entity` names each row's.
/// (2) `id` is the primary key, by the rules of `ExportKeys`. Core Data's `Z_OPT` is not there.
/// (3) A to-one relationship is a column with a foreign key and an index. A reference whose row is not there is NULL.
/// (4) Other relationships have a table each, with `owner` and `member`; a to-many relationship with a to-one inverse needs none, unless it is
///     ordered: then the members' table has the column `<inverse>_position`.
/// (5) A column is NOT NULL if the model demands a value and each row has one: rows of a converted store may lack it.
/// (6) A name that a table has already gets the entity's name before it.
struct PlainExportPlan {
    let schema: RecordLogSchema
    let tables: [PlainTable]
    let numbers: EntityNumbers
    let keys: ExportKeys

    init(_ entities: [NSEntityDescription], _ schema: RecordLogSchema, _ snapshot: Snapshot, path: String) throws {
        self.schema = schema
        numbers = EntityNumbers.computed(for: entities)
        var names = SQLNames(), families: [(root: NSEntityDescription, list: [NSEntityDescription])] = []
        for entity in numbers.sorted(entities) {
            if let index = families.firstIndex(where: { $0.root === entity.chain[0] }) {
                families[index].list.append(entity)
            } else {
                families.append((entity.chain[0], [entity]))
            }
        }
        tables = try families.map {
            var table = PlainTable(names.take($0.root.name ?? "", or: "entity_\($0.root.name ?? "")"), $0.list)
            try table.checkDemands(schema, snapshot)
            return table
        }
        let list = tables.map { table in (name: table.name, list: table.entities.compactMap(schema.table(of:))) }
        keys = try ExportKeys(list, numbers, snapshot, path: path)
    }

    func plan() -> ExportPlan {
        var names = SQLNames()
        for table in tables { _ = names.take(table.name, or: table.name) }
        let joins = joinTables(&names)
        return ExportPlan(tables: tables.map { table($0, &names) }, joins: joins, bookkeeping: [], triggers: [], keys: keys)
    }

    // MARK: Objects

    private func table(_ table: PlainTable, _ names: inout SQLNames) -> ExportTable {
        var links = ExportLinks(schema)
        let uses = table.columns.map { column in column.isOrder ? links.use(of: column.claim) : nil }
        let rows = table.entities.compactMap { entity in
            schema.table(of: entity).map { found in
                ExportTable.Rows(
                    table: found, sources: (table.hasEntityColumn ? [.entityName(entity.name ?? "")] : [])
                        + zip(table.columns, uses).map { $0.source(of: entity, $1) })
            }
        }
        return ExportTable(
            name: table.name, statement: table.statement(destination), columnCount: table.ownCount + table.columns.count,
            indexes: table.indexes(&names), rows: rows, links: links.list)
    }

    /// The name of the table with an entity's rows; nil if they are in another store.
    private func destination(_ entity: NSEntityDescription?) -> String? {
        guard let entity else { return nil }
        return tables.first { $0.entities.contains { $0 === entity } }?.name
    }

    // MARK: Join tables

    private func joinTables(_ names: inout SQLNames) -> [ExportJoin] {
        var result: [ExportJoin] = []
        for plan in LinkPlan.all(of: tables.flatMap(\.entities)) {
            let relationship = plan.relationship
            // The members' own column has the owners of an ordered relationship with a to-one inverse.
            if let inverse = relationship.inverseRelationship, !inverse.isToMany { continue }
            guard let owner = destination(plan.entity), let member = destination(relationship.destinationEntity) else { continue }
            let base = "\(plan.entity.name ?? "")_\(relationship.name)", name = names.take(base, or: "\(base)_members")
            let orders = [relationship.isOrdered ? "position" : nil, plan.isOrderedTwice ? "inverse_position" : nil].compactMap(\.self)
            let table = SQLNames.quoted(name), index = names.take("\(name)_member", or: "\(name)_by_member")
            let columns = ["owner", "member"].map { ($0, $0 == "owner" ? owner : member) }.map { column, target in
                "\(column) INTEGER NOT NULL REFERENCES \(SQLNames.quoted(target)) (id)"
            }
            let statement = "CREATE TABLE \(table) (\((columns + orders.map { "\($0) INTEGER NOT NULL" }).joined(separator: ", ")), "
                + "PRIMARY KEY (owner, member))"
            result.append(
                ExportJoin(
                    name: name, statement: statement,
                    indexes: [
                        SQLiteIndexDefinition(
                            name: "sqlite_autoindex_\(name)_1", statement: nil, terms: [.init(column: 0), .init(column: 1)], isUnique: true),
                        SQLiteIndexDefinition(
                            name: index, statement: "CREATE INDEX \(SQLNames.quoted(index)) ON \(table) (member, owner)",
                            terms: [.init(column: 1), .init(column: 0)]),
                    ],
                    join: schema.link(of: relationship, declaredBy: plan.entity)?.join, isSourceFirst: true,
                    orders: orders.map { $0 == "position" }, mustExist: true))
        }
        return result
    }
}

/// Gives names that a database has not yet, without regard to case.
struct SQLNames {
    private var taken: Set<String> = []

    /// - Parameter other: a name to take instead; digits follow it if it is taken too.
    mutating func take(_ name: String, or other: @autoclosure () -> String) -> String {
        // SQLite keeps names with this beginning for itself.
        if !name.lowercased().hasPrefix("sqlite_"), taken.insert(name.lowercased()).inserted { return name }
        let base = other()
        var found = base, count = 1
        while !taken.insert(found.lowercased()).inserted {
            count += 1
            found = base + String(count)
        }
        return found
    }

    static func quoted(_ name: String) -> String { SQLText.quoted(name) }
}
