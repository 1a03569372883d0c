import Foundation
import Heartwood
import RecordLog

/// The plan of a new file in Core Data's layout.
struct CoreDataExportPlan {
    let schema: RecordLogSchema
    let snapshot: Snapshot
    let tables: CoreDataTables
    /// The source of entity numbers and keys.
    let keys: ExportKeys

    /// - Parameters:
    ///   - entities: those of the store's configuration.
    ///   - known: the names of join tables in a store of Core Data's with the same model.
    init(
        _ entities: [NSEntityDescription], _ schema: RecordLogSchema, _ snapshot: Snapshot, like known: KnownJoinTables?, path: String
    ) throws {
        self.schema = schema
        self.snapshot = snapshot
        let numbers = known?.numbers ?? EntityNumbers.computed(for: entities)
        tables = try CoreDataTables(entities, numbers, like: known, path: path)
        let list = tables.tables.map { table in (name: table.name, list: table.entities.compactMap(schema.table(of:))) }
        keys = try ExportKeys(list, numbers, snapshot, path: path)
    }

    /// - Parameter metadata: the property list of `Z_METADATA`, and the cache.
    func plan(_ metadata: CoreDataFileMetadata) throws -> ExportPlan {
        try ExportPlan(
            tables: tables.tables.map(table), joins: tables.joins.map(join), bookkeeping: [primaryKeys] + metadata.tables(),
            triggers: CoreDataTriggers(tables: tables).all(counts), keys: keys)
    }

    private var counts: [(attribute: NSDerivedAttributeDescription, members: NSRelationshipDescription)] {
        var known: Set<ObjectIdentifier> = []
        return tables.tables.flatMap(\.entities).compactMap(schema.table(of:)).flatMap { $0.derivations ?? [] }.compactMap { derivation in
            guard case .count(let members) = derivation.form, known.insert(ObjectIdentifier(derivation.attribute)).inserted else { return nil }
            return (derivation.attribute, members)
        }
    }

    // MARK: Objects

    private func table(_ table: CoreDataTables.Table) -> ExportTable {
        var links = ExportLinks(schema)
        let columns = table.columns.map { column in (column: column, link: links.use(of: column)) }
        let rows = table.entities.compactMap { entity in
            schema.table(of: entity).map { found in
                ExportTable.Rows(
                    table: found,
                    sources: [.entityNumber(tables.numbers.number(of: entity) ?? 0), .version]
                        + columns.map { Self.source($0.column, $0.link, entity) })
            }
        }
        return ExportTable(
            name: table.name, statement: table.statement, columnCount: CoreDataTables.ownColumns.count + columns.count,
            indexes: table.indexes, rows: rows, links: links.list)
    }

    private static func source(_ column: CoreDataColumn, _ link: ExportSource?, _ entity: NSEntityDescription) -> ExportSource {
        guard column.belongs(to: entity) else { return .null }
        if let link { return link }
        guard let index = entity.propertiesByIndex.firstIndex(where: { $0 === column.property }) else { return .null }
        switch column.use {
        case .entityKey: return .entityOfKey(property: index)
        case .value where column.property is NSRelationshipDescription: return .key(property: index, mustExist: false)
        case .value:
            let allowsExternal = (column.property as? NSAttributeDescription)?.allowsExternalBinaryDataStorage ?? false
            let codec = PropertyKind(column.property).sqlite
            return (allowsExternal ? codec.externalForm : codec.form).map { ExportSource.value(property: index, $0) } ?? .null
        case .owner, .order: return .null
        }
    }

    // MARK: Join tables

    private func join(_ join: CoreDataJoin) -> ExportJoin {
        let found = schema.link(of: join.relationship, declaredBy: join.owner)
        // The named side's owners are in the first column, and those of a reflexive relationship in the second.
        let isSourceFirst = (found?.isForward ?? true) != join.isReflexive
        let orders = [join.order.map { _ in found?.isForward ?? true }, join.inverseOrder.map { _ in !(found?.isForward ?? true) }]
        return ExportJoin(
            name: join.table, statement: join.statement, indexes: [join.primaryKey, join.index], join: found?.join,
            isSourceFirst: isSourceFirst, orders: orders.compactMap(\.self), mustExist: false)
    }

    // MARK: Bookkeeping

    private var primaryKeys: ExportPlan.Bookkeeping {
        let rows = tables.numbers.entries.map { entry in
            // Facts, "Z_PRIMARYKEY": the greatest key is on the root.
            let table = tables.tables.first { $0.entities.first.flatMap { tables.numbers.number(of: $0) } == entry.number }
            let greatest = table.flatMap { keys.maxima[$0.name] } ?? 0
            return ExportPlan.Record(rowid: entry.number, values: [.text(entry.name), .integer(entry.parent), .integer(greatest)])
        }
        return ExportPlan.Bookkeeping(
            name: "Z_PRIMARYKEY",
            statement: "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            columnCount: 4, hasKey: true, rows: rows)
    }
}

/// The join tables of the record log whose entries a table's columns need.
struct ExportLinks {
    private let schema: RecordLogSchema
    private(set) var list: [ExportTable.Link] = []

    init(_ schema: RecordLogSchema) { self.schema = schema }

    /// - Returns: nil for a column whose values are in the entity's own rows.
    mutating func use(of column: CoreDataColumn) -> ExportSource? {
        guard let relationship = column.property as? NSRelationshipDescription, column.use == .owner || column.use == .order else { return nil }
        guard relationship.isToMany else {
            // The order of the members of the to-many inverse.
            guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity else { return .null }
            return sorter(inverse, destination.owner(of: inverse), hasOwner: false).map { ExportSource.linkFirst(sorter: $0) } ?? ExportSource.null
        }
        guard let sorter = sorter(relationship, column.owner, hasOwner: true) else { return .null }
        return column.use == .owner ? .linkFirst(sorter: sorter) : .linkSecond(sorter: sorter)
    }

    /// - Returns: the sorter's index among the table's; nil if no entity with rows has the relationship.
    private mutating func sorter(_ relationship: NSRelationshipDescription, _ owner: NSEntityDescription, hasOwner: Bool) -> Int? {
        guard let (join, _) = schema.link(of: relationship, declaredBy: owner) else { return nil }
        if let known = list.firstIndex(where: { $0.join === join }) { return known }
        list.append(ExportTable.Link(join: join, hasOwner: hasOwner, name: "\(owner.name ?? "").\(relationship.name)"))
        return list.count - 1
    }
}

extension RecordLogSchema {
    /// - Returns: nil for an abstract entity.
    func table(of entity: NSEntityDescription) -> EntityTable? {
        tables.first { $0?.runtime.entity === entity } ?? nil
    }

    /// The join table of a relationship, and whether the relationship's owners are its sources.
    /// - Returns: nil if no entity with rows has the relationship, or if it needs no join table.
    func link(of relationship: NSRelationshipDescription, declaredBy owner: NSEntityDescription) -> (join: JoinTable, isForward: Bool)? {
        for case let table? in tables where table.runtime.entity.isKindOf(entity: owner) {
            guard let index = table.runtime.entity.propertiesByIndex.firstIndex(where: { $0 === relationship }),
                case .link(let join, let isForward)? = table.members[index]
            else { continue }
            return (join, isForward)
        }
        return nil
    }
}
