import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// The indexes and foreign keys in both versions. Those that stay right stay; the others go before rows change, and are made once the rows are right.
struct MigratedConstraints {
    private struct ForeignKey {
        let name: String
        let table: String
        let column: String
    }

    private let mapping: VersionMapping
    private let families: [MigratedFamily]
    private let links: MigratedLinks
    private let keys: [ForeignKey]
    /// By new family: the names of indexes that stay, by their new names.
    private var indexes: [String: String] = [:]
    /// The former names of tables and columns whose foreign keys stay.
    private var keptKeys: Set<[String]> = []
    /// The new places of the foreign keys that stay.
    private var madeKeys: Set<[String]> = []

    init(_ mapping: VersionMapping, _ families: [MigratedFamily], _ links: MigratedLinks, _ connection: PostgreSQLConnection) throws {
        (self.mapping, self.families, self.links) = (mapping, families, links)
        var parameters = PostgreSQLParameters()
        try parameters.addText(mapping.old.name)
        let found = try connection.execute(Self.foreignKeys, parameters)
        keys = try (0..<found.count).map { ForeignKey(name: try found.text($0, 0), table: try found.text($0, 1), column: try found.text($0, 2)) }
        for family in families { keepIndexes(family) }
        for family in families { keepKeys(family) }
        for link in mapping.new.links { keepKeys(link) }
    }

    private static let foreignKeys = PostgreSQLStatement(
        """
        SELECT c.conname::text, r.relname::text, a.attname::text FROM pg_constraint c
        JOIN pg_class r ON r.oid = c.conrelid JOIN pg_namespace n ON n.oid = r.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        WHERE c.contype = 'f' AND n.nspname = $1 AND r.relname NOT LIKE 'heartwood\\_%'
        """, isPrepared: false)

    private mutating func keepIndexes(_ family: MigratedFamily) {
        guard let kept = family.kept else { return }
        let former = mapping.old.families[kept]
        for index in family.table.indexes {
            let parts = index.parts.compactMap { part in
                family.bases[part.column].map { FamilyTable.Index.Part(column: $0, isAscending: part.isAscending) }
            }
            guard parts.count == index.parts.count, let same = former.indexes.first(where: { $0.parts == parts && indexes[$0.name] == nil }) else { continue }
            indexes[same.name] = index.name
        }
        for constraint in family.table.constraints {
            let columns = constraint.columns.compactMap { family.isUnchanged($0) ? family.bases[$0] : nil }
            guard columns.count == constraint.columns.count, mapping.hasSameRows(family.index),
                let same = former.constraints.first(where: { $0.columns == columns && $0.entities == constraint.entities && indexes[$0.name] == nil })
            else { continue }
            indexes[same.name] = constraint.name
        }
    }

    private mutating func keepKeys(_ family: MigratedFamily) {
        guard let kept = family.kept else { return }
        let former = mapping.old.families[kept]
        for (index, column) in family.table.columns.enumerated() {
            guard column.isChecked, let target = column.family, mapping.hasSameRows(target), mapping.hasSameRows(family.index),
                family.isUnchanged(index), let base = family.bases[index], former.columns[base].isChecked,
                former.columns[base].family == mapping.kept[target]
            else { continue }
            keptKeys.insert([former.name, former.columns[base].name])
            madeKeys.insert([family.table.name, column.name])
        }
    }

    private mutating func keepKeys(_ link: LinkTable) {
        guard let former = links.kept(link) else { return }
        for (column, before, after) in [
            (LinkTable.source, former.sourceFamily, link.sourceFamily), (LinkTable.destination, former.destinationFamily, link.destinationFamily),
        ] where mapping.hasSameRows(after) && mapping.kept[after] == before {
            keptKeys.insert([former.name, column])
            madeKeys.insert([link.name, column])
        }
    }

    // MARK: Statements

    private var schema: String { SQLName.quoted(mapping.old.name) + "." }

    func addDropping(to steps: inout MigrationSteps) {
        for key in keys where !keptKeys.contains([key.table, key.column]) {
            steps.add("ALTER TABLE \(schema)\(SQLName.quoted(key.table)) DROP CONSTRAINT \(SQLName.quoted(key.name))")
        }
        let all = mapping.old.families.flatMap { $0.indexes.map(\.name) + $0.constraints.map(\.name) }
        let gone = all.filter { indexes[$0] == nil }
        if !gone.isEmpty { steps.add("DROP INDEX IF EXISTS \(gone.map { schema + SQLName.quoted($0) }.joined(separator: ", "))") }
        let renamed = all.filter { name in indexes[name].map { $0 != name } ?? false }.enumerated()
        for (place, name) in renamed { steps.add("ALTER INDEX IF EXISTS \(schema)\(SQLName.quoted(name)) RENAME TO \(WorkingNames.temporary("index", place))") }
        for (place, name) in renamed {
            guard let new = indexes[name] else { continue }
            steps.add("ALTER INDEX IF EXISTS \(schema)\(WorkingNames.temporary("index", place)) RENAME TO \(SQLName.quoted(new))")
        }
    }

    func addMaking(to steps: inout MigrationSteps) {
        let statements = SchemaStatements(mapping.new), kept = Set(indexes.values)
        for family in families {
            for index in family.table.indexes where !kept.contains(index.name) { steps.add(statements.index(index, family.table)) }
            for constraint in family.table.constraints where !kept.contains(constraint.name) {
                let entity = family.table.name
                steps.add(statements.index(constraint, family.table), .uniqueness(constraint, entity: entity))
            }
        }
        for family in families {
            for column in family.table.columns where !madeKeys.contains([family.table.name, column.name]) {
                if let text = statements.reference(column, family.table) { steps.add(text) }
            }
        }
        for link in mapping.new.links {
            if links.kept(link) == nil { for text in statements.indexes(link) { steps.add(text) } }
            for (column, family) in [(LinkTable.source, link.sourceFamily), (LinkTable.destination, link.destinationFamily)]
            where !madeKeys.contains([link.name, column]) {
                steps.add(statements.reference(link, column, family))
            }
        }
    }
}
