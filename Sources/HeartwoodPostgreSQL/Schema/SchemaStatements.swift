import Foundation
import Heartwood

/// The statements that make the tables of a layout.
struct SchemaStatements {
    private let layout: PostgreSQLLayout
    private var schema: String { SQLName.quoted(layout.name) }

    init(_ layout: PostgreSQLLayout) { self.layout = layout }

    /// All of them, in order.
    var all: [String] { tables + checks }

    /// Those that make tables to which rows can be added.
    var tables: [String] {
        var list = ["CREATE SCHEMA IF NOT EXISTS \(schema)"] + storeTables + entities
        for family in layout.families.indices { list += table(family) }
        return list + layout.links.map(table)
    }

    /// Those that make indexes, and have the server check references.
    var checks: [String] {
        layout.families.flatMap { family in family.columns.compactMap { reference($0, family) } + indexes(family) }
            + layout.links.flatMap { references($0) + indexes($0) }
    }

    /// The statements as a text for people.
    var text: String { all.map { $0 + ";\n" }.joined() }

    private func qualified(_ name: String) -> String { schema + "." + SQLName.quoted(name) }

    private var storeTables: [String] {
        [
            "CREATE TABLE \(qualified(StoreTables.values)) (key text COLLATE \"C\" PRIMARY KEY, value bytea NOT NULL)",
            "CREATE TABLE \(qualified(StoreTables.entities)) (number smallint PRIMARY KEY, name text NOT NULL UNIQUE, table_name text NOT NULL)",
            "CREATE TABLE \(qualified(StoreTables.transactions)) (\n    number bigint PRIMARY KEY,\n    time double precision NOT NULL,"
                + "\n    author text,\n    context_name text,\n    process_id text,\n    bundle_id text\n)",
            "CREATE TABLE \(qualified(StoreTables.changes)) (\n    number bigint REFERENCES \(qualified(StoreTables.transactions)) ON DELETE CASCADE,"
                + "\n    place bigint,\n    entity smallint NOT NULL,\n    row bigint NOT NULL,\n    kind text NOT NULL,\n    updated text,"
                + "\n    kept text,\n    PRIMARY KEY (number, place)\n)",
            "CREATE TABLE \(layout.marker) ()",
        ] + layout.crashMark.creation
    }

    /// Those that fill the table of entities.
    var entities: [String] {
        let rows = layout.entities.map { entity in
            "(\(entity.number),\(SQLName.literal(entity.table.runtime.entity.name ?? "")),"
                + "\(SQLName.literal(layout.families[entity.family].name)))"
        }
        return rows.isEmpty ? [] : ["INSERT INTO \(qualified(StoreTables.entities)) VALUES \(rows.joined(separator: ", "))"]
    }

    /// Those that make a family's table, without indexes and references.
    func table(_ index: Int) -> [String] {
        let family = layout.families[index]
        let own = ["\(FamilyTable.number) bigint PRIMARY KEY", "\(FamilyTable.entity) smallint NOT NULL", "\(FamilyTable.version) integer NOT NULL"]
        let columns = own + family.columns.map { "\($0.quoted) \($0.type.rawValue)" }
        return [
            "CREATE TABLE \(family.quoted) (\n    " + columns.joined(separator: ",\n    ") + "\n)",
            // 47 bits: an object's key has no more for the number.
            "CREATE SEQUENCE \(family.sequence) INCREMENT \(NumberBlocks.size) MAXVALUE 140737488355263"
                + " OWNED BY \(family.quoted).\(FamilyTable.number)",
        ]
    }

    func table(_ link: LinkTable) -> String {
        var columns = [
            "\(LinkTable.source) bigint NOT NULL", "\(LinkTable.sourceEntity) smallint NOT NULL", "\(LinkTable.destination) bigint NOT NULL",
            "\(LinkTable.destinationEntity) smallint NOT NULL",
        ]
        if link.isOrdered { columns.append("\(LinkTable.position) bigint NOT NULL") }
        if link.isInverseOrdered { columns.append("\(LinkTable.inversePosition) bigint NOT NULL") }
        columns.append("PRIMARY KEY (\(LinkTable.source), \(LinkTable.destination))")
        return "CREATE TABLE \(link.quoted) (\n    " + columns.joined(separator: ",\n    ") + "\n)"
    }

    /// Checked when a transaction commits, since a save writes rows in any order.
    /// - Returns: nil for a column that is not checked.
    func reference(_ column: FamilyTable.Column, _ family: FamilyTable) -> String? {
        guard column.isChecked, let target = column.family else { return nil }
        return "ALTER TABLE \(family.quoted) ADD FOREIGN KEY (\(column.quoted)) REFERENCES \(layout.families[target].quoted)"
            + " DEFERRABLE INITIALLY DEFERRED"
    }

    private func references(_ link: LinkTable) -> [String] {
        [reference(link, LinkTable.source, link.sourceFamily), reference(link, LinkTable.destination, link.destinationFamily)]
    }

    /// A pair goes with either of its rows.
    func reference(_ link: LinkTable, _ column: String, _ family: Int) -> String {
        "ALTER TABLE \(link.quoted) ADD FOREIGN KEY (\(column)) REFERENCES \(layout.families[family].quoted)"
            + " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
    }

    private func indexes(_ family: FamilyTable) -> [String] {
        family.indexes.map { index($0, family) } + family.constraints.map { index($0, family) }
    }

    /// Null comes first in Core Data's order, and rows with equal values come by their numbers.
    func index(_ index: FamilyTable.Index, _ family: FamilyTable) -> String {
        let parts = index.parts.map { family.columns[$0.column].quoted + ($0.isAscending ? " NULLS FIRST" : " DESC NULLS LAST") }
        return "CREATE INDEX \(SQLName.quoted(index.name)) ON \(family.quoted) (\((parts + [FamilyTable.number]).joined(separator: ", ")))"
    }

    func index(_ constraint: FamilyTable.Constraint, _ family: FamilyTable) -> String {
        let columns = constraint.columns.map { family.columns[$0].quoted + " NULLS FIRST" }.joined(separator: ", ")
        let covered = constraint.entities.map { " WHERE " + FamilyTable.isOne(of: $0) } ?? ""
        return "CREATE UNIQUE INDEX \(SQLName.quoted(constraint.name)) ON \(family.quoted) (\(columns))" + covered
    }

    func indexes(_ link: LinkTable) -> [String] {
        let ordered = link.isOrdered
            ? ["CREATE INDEX ON \(link.quoted) (\(LinkTable.source), \(LinkTable.position), \(LinkTable.destination))"] : []
        let other = link.isInverseOrdered ? LinkTable.inversePosition + ", " : ""
        return ordered + ["CREATE INDEX ON \(link.quoted) (\(LinkTable.destination), \(other)\(LinkTable.source))"]
    }
}
