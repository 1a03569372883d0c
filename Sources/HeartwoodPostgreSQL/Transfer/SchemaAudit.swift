import Heartwood
internal import HeartwoodPostgreSQLClient

/// Finds keys, indexes, references and sequences that a store's tables need and lack.
struct SchemaAudit {
    private let layout: PostgreSQLLayout
    private let counts: StoredCounts
    private let connection: PostgreSQLConnection
    private var findings = StoreFindings()

    init(_ layout: PostgreSQLLayout, _ counts: StoredCounts, _ connection: PostgreSQLConnection) {
        (self.layout, self.counts, self.connection) = (layout, counts, connection)
    }

    /// An index or a reference of a table, by its columns.
    private struct Part: Hashable {
        let table: String
        let columns: [String]
    }

    private static let indexes = PostgreSQLStatement(
        """
        SELECT t.relname::text, x.indisunique AND x.indisvalid, a.attname::text, x.indexrelid::bigint
        FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
        CROSS JOIN LATERAL unnest(x.indkey[0:x.indnkeyatts - 1]) WITH ORDINALITY AS k(number, place)
        LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
        WHERE n.nspname = $1 ORDER BY 4, k.place
        """, isPrepared: false)

    private static let references = PostgreSQLStatement(
        """
        SELECT t.relname::text, a.attname::text
        FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]
        WHERE n.nspname = $1 AND c.contype = 'f' AND c.convalidated AND array_length(c.conkey, 1) = 1
        """, isPrepared: false)

    func run() throws -> StoreFindings {
        var audit = self
        try audit.examine()
        return audit.findings
    }

    private mutating func examine() throws {
        var parameters = PostgreSQLParameters()
        try parameters.addText(layout.name)
        let (unique, all) = try indexes(parameters), references = try references(parameters)
        for family in layout.families {
            demand(unique.contains(Part(table: family.name, columns: [FamilyTable.number])), family.name, "its key \(FamilyTable.number)")
            for constraint in family.constraints {
                let columns = constraint.columns.map { family.columns[$0].name }
                demand(
                    unique.contains(Part(table: family.name, columns: columns)), family.name,
                    "the unique index over \(columns.joined(separator: ", "))")
            }
            for index in family.indexes {
                let columns = index.parts.map { family.columns[$0.column].name } + [FamilyTable.number]
                demand(all.contains(Part(table: family.name, columns: columns)), family.name, "the index over \(columns.joined(separator: ", "))")
            }
            for column in family.columns where column.isChecked {
                demand(
                    references.contains(Part(table: family.name, columns: [column.name])), family.name, "the check of the reference \(column.name)")
            }
        }
        for link in layout.links {
            demand(unique.contains(Part(table: link.name, columns: [LinkTable.source, LinkTable.destination])), link.name, "its key")
            for end in [LinkTable.source, LinkTable.destination] {
                demand(references.contains(Part(table: link.name, columns: [end])), link.name, "the check of the reference \(end)")
            }
        }
        for family in counts.familiesWithoutSequence { findings.add("the sequence of \(family) is missing") }
        for (family, greatest) in counts.givenTwice { findings.add("the sequence of \(family) would give numbers again, up to \(greatest)") }
    }

    private mutating func demand(_ isThere: Bool, _ table: String, _ what: String) {
        if !isThere { findings.add("the table \(table) lacks \(what)") }
    }

    private func indexes(_ parameters: PostgreSQLParameters) throws -> (unique: Set<Part>, all: Set<Part>) {
        let result = try connection.execute(Self.indexes, parameters)
        var parts: [Int64: (table: String, isUnique: Bool, columns: [String])] = [:]
        for line in 0..<result.count {
            let column = try result.isNull(line, 2) ? "" : result.text(line, 2)
            let table = try result.text(line, 0), isUnique = try result.bool(line, 1)
            parts[try result.int64(line, 3), default: (table, isUnique, [])].columns.append(column)
        }
        let all = parts.values.map { (part: Part(table: $0.table, columns: $0.columns), isUnique: $0.isUnique) }
        return (Set(all.filter(\.isUnique).map(\.part)), Set(all.map(\.part)))
    }

    private func references(_ parameters: PostgreSQLParameters) throws -> Set<Part> {
        let result = try connection.execute(Self.references, parameters)
        return Set(try (0..<result.count).map { Part(table: try result.text($0, 0), columns: [try result.text($0, 1)]) })
    }
}
