import Foundation
import Heartwood
import RecordLog

/// The tables of a model's entities in a database, and the conversion between its rows and those that the stack reads.
final class ServerBinding: Sendable {
    /// An entity's table.
    struct Bound: Sendable {
        let index: Int
        /// By property index: the column; nil for a property that the object's own row does not have.
        let columns: [Int?]
    }

    let schema: RecordLogSchema
    let slotBase: UInt64
    /// By the number of the schema's table.
    private let tables: [Bound?]
    /// The schema's table of each of the database's tables.
    private let entities: [Int: EntityTable]
    /// By the number of the schema's table of a relationship.
    private let links: [TableID: Int]

    /// Binds the entities to tables of the database, and makes those that it lacks.
    init(_ schema: RecordLogSchema, slotBase: UInt64, in state: inout DatabaseState) {
        (self.schema, self.slotBase) = (schema, slotBase)
        var tables: [Bound?] = [], entities: [Int: EntityTable] = [:], links: [TableID: Int] = [:]
        var constraints: [UInt16: Int] = [:]
        for table in schema.tables {
            guard let table else {
                tables.append(nil)
                continue
            }
            let bound = Self.bind(table, in: &state)
            tables.append(bound)
            entities[bound.index] = table
            for (number, names) in table.uniqueConstraints {
                let columns = names.compactMap { name in table.runtime.index(of: name).flatMap { bound.columns[$0] } }
                constraints[number] = Self.cover(bound.index, columns, names, constraints[number], in: &state)
            }
        }
        for (id, name) in Self.linkNames(schema) {
            links[id] = state.links.firstIndex { $0.name == name } ?? state.links.endIndex
            if links[id] == state.links.endIndex { state.links.append(ServerLinks(name: name)) }
        }
        (self.tables, self.entities, self.links) = (tables, entities, links)
    }

    private static func bind(_ table: EntityTable, in state: inout DatabaseState) -> Bound {
        let runtime = table.runtime, name = runtime.entity.name ?? ""
        let stored = runtime.properties.indices.filter { table.positions[$0] != nil }
        let index = state.tables.firstIndex { $0.name == name } ?? state.tables.endIndex
        if index == state.tables.endIndex { state.tables.append(ServerTable(name: name, columns: stored.map { runtime.properties[$0].name })) }
        let known = state.tables[index].columns
        return Bound(
            index: index,
            columns: runtime.properties.enumerated().map { table.positions[$0] == nil ? nil : known.firstIndex(of: $1.name) })
    }

    private static func cover(
        _ table: Int, _ columns: [Int], _ names: [String], _ known: Int?, in state: inout DatabaseState
    ) -> Int {
        let index = known ?? state.constraints.firstIndex { $0.attributes == names && $0.columns[table] == columns } ?? state.constraints.endIndex
        if index == state.constraints.endIndex { state.constraints.append(ServerConstraint(attributes: names)) }
        if state.constraints[index].columns[table] == nil { state.constraints[index].cover(table, columns) }
        return index
    }

    /// The name of each relationship that has a table: the first of those that its entities give it.
    private static func linkNames(_ schema: RecordLogSchema) -> [(TableID, String)] {
        var names: [TableID: String] = [:]
        for table in schema.tables.compactMap(\.self) {
            for (property, source) in table.members.enumerated() {
                guard case .link(let link, true)? = source else { continue }
                let name = "\(table.runtime.entity.name ?? "").\(table.runtime.properties[property].name)"
                names[link.id] = min(names[link.id] ?? name, name)
            }
        }
        return names.sorted { $0.value < $1.value }.map { ($0.key, $0.value) }
    }

    func table(of table: EntityTable) -> Bound {
        guard let bound = tables[Int(table.id.rawValue)] else { preconditionFailure("each table of the schema is bound") }
        return bound
    }

    func link(_ link: JoinTable) -> Int { links[link.id] ?? 0 }

    // MARK: Keys

    func reference(_ key: ObjectKey) -> ServerReference? {
        schema.table(of: key, slotBase: slotBase).map { ServerReference(table: table(of: $0).index, number: key.row) }
    }

    func key(_ reference: ServerReference) -> ObjectKey? {
        entities[reference.table].map { ObjectKey(slot: $0.runtime.slot, row: reference.number) }
    }

    func entityTable(_ reference: ServerReference) -> EntityTable? { entities[reference.table] }

    // MARK: Values

    /// A value as the database keeps it; nil for null.
    func stored(_ value: ManagedValue) -> ServerValue? {
        switch value {
        case .unset, .null, .toMany, .object: nil
        case .bool(let flag): .bool(flag)
        case .integer(let number): .integer(number)
        case .double(let number), .date(let number): .double(number)
        case .text(let text): .text(text)
        case .data(let data): .bytes(data)
        case .uuid(let uuid): .uuid(uuid)
        case .decimal(let number): .decimal(number.decimalValue)
        case .url(let url): .text(url.absoluteString)
        case .reference(let key): reference(key).map(ServerValue.reference)
        }
    }

    /// Builds a row of the stack's form.
    func build(_ values: [ServerValue?], of table: EntityTable, with builder: RowBuilder) {
        builder.begin(table.layout)
        for (property, column) in self.table(of: table).columns.enumerated() {
            guard let position = table.positions[property], let column, column < values.count, let value = values[column] else { continue }
            switch value {
            case .bool(let flag): builder.set(position, bool: flag)
            case .integer(let number): builder.set(position, int64: number)
            case .double(let number): builder.set(position, double: number)
            case .text(let text): builder.set(position, text: text)
            case .bytes(let data):
                data.withUnsafeBytes { bytes in
                    if table.layout.columns[position].type == .value {
                        builder.set(position, value: LargeValue(inRow: bytes))
                    } else {
                        builder.set(position, bytes: bytes)
                    }
                }
            case .uuid(let uuid): builder.set(position, uuid: uuid.storedBytes)
            case .decimal(let number): builder.set(position, decimal: StoredDecimal(number))
            case .reference(let reference):
                guard let target = key(reference) else { continue }
                builder.set(position, reference: RowReference(rawValue: target.rawValue &- slotBase))
            }
        }
    }
}
