import Heartwood

/// The names that the former tables and columns have during a migration, as they stand in statements.
///
/// A name of the new version may have belonged to something else, so whatever does not keep its name gets one that no model can give.
struct WorkingNames {
    private let old: PostgreSQLLayout
    private let tables: [String]
    private let links: [String: String]
    private let columns: [[String]]

    /// - Parameters:
    ///   - staying: by former family, whether its table keeps its name.
    ///   - links: the names of the tables of pairs that keep theirs.
    ///   - columns: by former family, the columns that keep their names.
    init(_ old: PostgreSQLLayout, staying: Set<Int>, links: Set<String>, columns: [Int: Set<Int>]) {
        self.old = old
        let schema = SQLName.quoted(old.name) + "."
        tables = old.families.indices.map { staying.contains($0) ? old.families[$0].quoted : schema + Self.temporary("table", $0) }
        self.links = Dictionary(old.links.enumerated().map { index, link in
            (link.name, links.contains(link.name) ? link.quoted : schema + Self.temporary("pairs", index))
        }) { first, _ in first }
        self.columns = old.families.enumerated().map { family, table in
            table.columns.enumerated().map { columns[family]?.contains($0) == false ? Self.temporary("column", $0) : $1.quoted }
        }
    }

    static func temporary(_ what: String, _ number: Int) -> String { SQLName.quoted("heartwood_old_\(what)_\(number)") }

    func table(_ family: Int) -> String { tables[family] }

    func link(_ link: LinkTable) -> String { links[link.name] ?? link.quoted }

    func column(_ family: Int, _ column: Int) -> String { columns[family][column] }

    /// The number of the entity that a reference of a row `o` leads to.
    func entity(of field: BoundEntity.Field, _ family: Int) -> String {
        guard let beside = field.target?.entityColumn else { return "\(field.target?.entity ?? 0)::smallint" }
        return "o." + column(family, beside)
    }

    /// The condition, with an AND before it, that the row is there to which a reference leads.
    func existence(of field: BoundEntity.Field, _ number: String) -> String {
        field.target?.family.map { " AND EXISTS (SELECT 1 FROM \(table($0)) d WHERE d.\(FamilyTable.number) = \(number))" } ?? ""
    }
}
