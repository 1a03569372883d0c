import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Brings a store's tables to another version of its model, within a transaction of the caller's. Objects keep their IDs.
///
/// The table of a family stays where most of its rows are; its columns get new names, types and values. Rows of entities that move to another family
/// are copied. Whatever is not needed any more goes last, so each statement may read the former tables.
struct PostgreSQLMigration {
    private let mapping: VersionMapping
    private let connection: PostgreSQLConnection
    private let families: [MigratedFamily]
    private let links: MigratedLinks
    private let names: WorkingNames
    private var old: PostgreSQLLayout { mapping.old }
    private var new: PostgreSQLLayout { mapping.new }

    /// - Returns: nil where rows cannot stay as they are: objects have to be copied then.
    init?(_ mapping: VersionMapping, _ connection: PostgreSQLConnection) throws {
        guard let links = MigratedLinks(mapping) else { return nil }
        (self.mapping, self.connection, self.links) = (mapping, connection, links)
        families = try mapping.new.families.indices.map { try MigratedFamily($0, mapping) }
        var staying: Set<Int> = [], columns: [Int: Set<Int>] = [:]
        for family in families {
            guard let kept = family.kept else { continue }
            let former = mapping.old.families[kept]
            if family.table.name == former.name, family.table.sequence == former.sequence { staying.insert(kept) }
            columns[kept] = Set(family.bases.filter { family.table.columns[$0.key].name == former.columns[$0.value].name }.values)
        }
        names = WorkingNames(mapping.old, staying: staying, links: links.staying, columns: columns)
    }

    /// - Returns: false where two rows would get one number; nothing has happened then.
    /// - Throws: 134110 where a required value is missing or a value does not fit, 134111 where values are not unique.
    func run() throws -> Bool {
        for family in families where try hasCollisions(family) { return false }
        let constraints = try MigratedConstraints(mapping, families, links, connection)
        var begin = MigrationSteps()
        // A deferred check would forbid to change its table.
        begin.add("SET CONSTRAINTS ALL IMMEDIATE")
        constraints.addDropping(to: &begin)
        addTemporaryNames(to: &begin)
        for family in families { addTable(family, to: &begin) }
        links.addTables(to: &begin, names)
        try begin.run(connection)
        var rows = MigrationSteps()
        links.addPairs(to: &rows, names)
        for family in families { addArriving(family, to: &rows) }
        for family in families { addStaying(family, to: &rows) }
        links.addRemovals(to: &rows, names)
        try rows.run(connection)
        var end = MigrationSteps()
        addFinalNames(to: &end)
        for family in families { addFillings(family, to: &end) }
        try end.run(connection)
        for family in families { try checkDemands(family) }
        var last = MigrationSteps()
        constraints.addMaking(to: &last)
        try last.run(connection)
        return true
    }

    // MARK: Tables

    private func addTemporaryNames(to steps: inout MigrationSteps) {
        for (index, family) in old.families.enumerated() where names.table(index) != family.quoted {
            steps.add("ALTER TABLE \(family.quoted) RENAME TO \(WorkingNames.temporary("table", index))")
            steps.add("ALTER SEQUENCE \(family.sequence) RENAME TO \(WorkingNames.temporary("numbers", index))")
        }
        for (index, link) in old.links.enumerated() where names.link(link) != link.quoted {
            steps.add("ALTER TABLE \(link.quoted) RENAME TO \(WorkingNames.temporary("pairs", index))")
        }
        for (index, family) in old.families.enumerated() {
            for (place, column) in family.columns.enumerated() where names.column(index, place) != column.quoted {
                steps.add("ALTER TABLE \(names.table(index)) RENAME COLUMN \(column.quoted) TO \(names.column(index, place))")
            }
        }
    }

    /// The name that a new column has until the end.
    private func name(_ column: Int, _ family: MigratedFamily) -> String {
        guard let kept = family.kept, let base = family.bases[column] else { return family.table.columns[column].quoted }
        return names.column(kept, base)
    }

    private func table(_ family: MigratedFamily) -> String { family.kept.map(names.table) ?? family.table.quoted }

    private func addTable(_ family: MigratedFamily, to steps: inout MigrationSteps) {
        guard family.kept != nil else {
            for text in SchemaStatements(new).table(family.index) { steps.add(text) }
            return
        }
        let added = family.added
        for (index, column) in family.table.columns.enumerated() where family.bases[index] == nil {
            let value = added[index].map { " DEFAULT \($0)" } ?? ""
            steps.add("ALTER TABLE \(table(family)) ADD COLUMN \(column.quoted) \(column.type.rawValue)\(value)")
            if !value.isEmpty { steps.add("ALTER TABLE \(table(family)) ALTER COLUMN \(column.quoted) DROP DEFAULT") }
        }
    }

    private func addFinalNames(to steps: inout MigrationSteps) {
        for family in families {
            guard let kept = family.kept else { continue }
            for (column, conversion) in family.conversions.sorted(by: { $0.key < $1.key }) {
                let own = name(column, family), value = conversion.sql(names, kept).replacing("o." + own, with: own)
                steps.add(
                    "ALTER TABLE \(table(family)) ALTER COLUMN \(own) TYPE \(family.table.columns[column].type.rawValue) USING \(value)",
                    .values(family.entities.first?.entity, column))
            }
            let bases = Set(family.bases.values)
            for column in old.families[kept].columns.indices where !bases.contains(column) {
                steps.add("ALTER TABLE \(table(family)) DROP COLUMN \(names.column(kept, column))")
            }
            for (column, _) in family.bases.sorted(by: { $0.key < $1.key }) where name(column, family) != family.table.columns[column].quoted {
                steps.add("ALTER TABLE \(table(family)) RENAME COLUMN \(name(column, family)) TO \(family.table.columns[column].quoted)")
            }
        }
        let kept = Set(families.compactMap(\.kept)), gone = old.families.indices.filter { !kept.contains($0) }.map(names.table) + links.gone.map(names.link)
        if !gone.isEmpty { steps.add("DROP TABLE \(gone.joined(separator: ", "))") }
        for family in families {
            guard let kept = family.kept, names.table(kept) != family.table.quoted else { continue }
            steps.add("ALTER TABLE \(names.table(kept)) RENAME TO \(SQLName.quoted(family.table.name))")
            let sequence = SQLName.quoted(new.name) + "." + WorkingNames.temporary("numbers", kept)
            steps.add("ALTER SEQUENCE \(sequence) RENAME TO \(SQLName.quoted(family.table.sequenceName))")
        }
        links.addFinalNames(to: &steps, names)
        for family in families where !family.arriving.isEmpty {
            steps.add(
                "SELECT setval(\(SQLName.literal(family.table.sequence))::regclass, greatest((SELECT coalesce(max(\(FamilyTable.number)), 1)"
                    + " FROM \(family.table.quoted)), (SELECT last_value FROM \(family.table.sequence))))")
        }
    }

    // MARK: Rows

    /// Whether rows of several tables that come together have a number in common.
    private func hasCollisions(_ family: MigratedFamily) throws -> Bool {
        let byTable = Dictionary(grouping: family.entities, by: \.source.family).sorted { $0.key < $1.key }
        guard byTable.count > 1 else { return false }
        let parts = byTable.map { table, entities in
            "SELECT \(FamilyTable.number) FROM \(old.families[table].quoted) WHERE \(FamilyTable.isOne(of: entities.map(\.source.number)))"
        }
        let found = try connection.execute(PostgreSQLStatement(
            "SELECT 1 FROM (\(parts.joined(separator: " UNION ALL "))) n GROUP BY \(FamilyTable.number) HAVING count(*) > 1 LIMIT 1", isPrepared: false))
        return found.count > 0
    }

    private func addArriving(_ family: MigratedFamily, to steps: inout MigrationSteps) {
        for (entity, source) in family.arriving {
            let columns = family.table.columns.indices.filter { family.value($0, entity) != nil }
            let targets = [FamilyTable.number, FamilyTable.entity, FamilyTable.version] + columns.map { name($0, family) }
            let values = ["o.\(FamilyTable.number)", "\(entity.number)", "o.\(FamilyTable.version)"]
                + columns.map { (family.value($0, entity) ?? .null).sql(names, source.family) }
            steps.add(
                "INSERT INTO \(table(family)) (\(targets.joined(separator: ", "))) SELECT \(values.joined(separator: ", "))"
                    + " FROM \(names.table(source.family)) o WHERE o.\(FamilyTable.entity) = \(source.number)", .values(entity, nil))
        }
    }

    private func addStaying(_ family: MigratedFamily, to steps: inout MigrationSteps) {
        guard let kept = family.kept else { return }
        let stay = family.staying.map(\.source.number), arrived = family.arriving.map(\.entity.number)
        if stay.count < old.entities.filter({ $0.family == kept }).count {
            steps.add("DELETE FROM \(table(family)) WHERE NOT \(FamilyTable.isOne(of: stay + arrived))")
        }
        for (entity, source) in family.staying {
            let changes = family.changes(entity, source)
            guard !changes.isEmpty else { continue }
            let sets = changes.map { "\(name($0.column, family)) = \($0.value.sql(names, kept))" }
            steps.add(
                "UPDATE \(table(family)) o SET \(sets.joined(separator: ", ")) WHERE o.\(FamilyTable.entity) = \(source.number)", .values(entity, nil))
        }
    }

    private func addFillings(_ family: MigratedFamily, to steps: inout MigrationSteps) {
        for filling in family.fillings {
            let column = family.table.columns[filling.column].quoted
            steps.add(
                "UPDATE \(family.table.quoted) SET \(column) = \(filling.text) WHERE \(column) IS NULL AND \(FamilyTable.entity) = \(filling.entity.number)")
        }
    }

    private func checkDemands(_ family: MigratedFamily) throws {
        for demand in family.demands {
            let column = family.table.columns[demand.field.column].quoted
            let found = try connection.execute(PostgreSQLStatement(
                "SELECT 1 FROM \(family.table.quoted) WHERE \(column) IS NULL AND \(FamilyTable.entity) = \(demand.entity.number) LIMIT 1",
                isPrepared: false))
            guard found.count == 0 else { throw MigrationErrors.missing(demand.entity.property(demand.field), of: demand.entity.description) }
        }
    }
}
