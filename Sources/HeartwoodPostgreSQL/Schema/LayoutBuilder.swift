import Foundation
import Heartwood
import RecordLog

/// Makes the layout of a model's tables.
struct LayoutBuilder {
    private let schema: RecordLogSchema
    private let name: String
    private let numbers: [String: Int16]
    private(set) var families: [FamilyTable] = []
    private(set) var links: [LinkTable] = []
    private(set) var linkPlaces: [TableID: Int] = [:]
    private(set) var bound: [BoundEntity?] = []
    /// By the name of a root entity.
    private var familyPlaces: [String: Int] = [:]
    private var tableNames = NameSpace(reserved: StoreTables.names)
    private var indexNames = NameSpace()
    private var columnNames: [NameSpace] = []

    init(_ schema: RecordLogSchema, _ name: String, _ numbers: [String: Int16]) {
        (self.schema, self.name, self.numbers) = (schema, name, numbers)
    }

    private var tables: [EntityTable] { schema.tables.compactMap(\.self) }

    mutating func build() {
        for table in tables { addFamily(of: table) }
        bound = schema.tables.map { table in table.map { bind($0) } }
        for table in tables { addIndexes(of: table) }
        addLinks()
    }

    private func qualified(_ table: String) -> String { SQLName.quoted(name) + "." + SQLName.quoted(table) }

    // MARK: Families

    private mutating func addFamily(of table: EntityTable) {
        let root = table.runtime.entity.root.name ?? ""
        guard familyPlaces[root] == nil else { return }
        familyPlaces[root] = families.count
        let name = tableNames.take(root), sequence = tableNames.take(name + "_numbers")
        families.append(FamilyTable(name: name, quoted: qualified(name), sequenceName: sequence, sequence: qualified(sequence)))
        columnNames.append(NameSpace(reserved: FamilyTable.reserved))
    }

    private func family(of entity: NSEntityDescription) -> Int? { familyPlaces[entity.root.name ?? ""] }

    /// The tables of an entity and its subentities.
    private func tables(of entity: NSEntityDescription?) -> [EntityTable] {
        entity.map { entity in tables.filter { $0.runtime.entity.isKindOf(entity: entity) } } ?? []
    }

    // MARK: Columns

    private mutating func bind(_ table: EntityTable) -> BoundEntity {
        let family = family(of: table.runtime.entity) ?? 0
        var fields: [BoundEntity.Field] = []
        for (property, runtime) in table.runtime.properties.enumerated() {
            guard let position = table.positions[property], let type = SQLType(runtime.kind) else { continue }
            let target = runtime.kind == .toOne ? tables(of: runtime.destination) : []
            var column = FamilyTable.Column(name: runtime.name, type: type)
            if let first = target.first {
                column.family = self.family(of: first.runtime.entity)
                column.isChecked = Self.isKept(table.runtime.entity.propertiesByIndex[property])
            }
            let place = place(of: column, in: family, of: table)
            fields.append(.init(
                property: property, position: position, kind: runtime.kind, column: place,
                target: runtime.kind == .toOne ? self.target(of: target, place, in: family) : nil))
        }
        return BoundEntity(table, family: family, number: number(table), fields: fields)
    }

    private func number(_ table: EntityTable) -> Int16 { numbers[table.runtime.entity.name ?? ""] ?? 0 }

    /// Whether a deletion of the destination clears the reference, so that the server may check it.
    private static func isKept(_ property: NSPropertyDescription) -> Bool {
        guard let inverse = (property as? NSRelationshipDescription)?.inverseRelationship, !inverse.isTransient else { return false }
        return inverse.deleteRule != .noActionDeleteRule
    }

    /// The place of an entity's column. Entities of a family share one of the same name and type.
    private mutating func place(of column: FamilyTable.Column, in family: Int, of table: EntityTable) -> Int {
        let known = columnOwners[family, default: [:]]
        if let place = known[column.name]?.first(where: { families[family].columns[$0].serves(column) }) {
            if !column.isChecked { families[family].columns[place].isChecked = false }
            return place
        }
        let isOther = known[column.name] != nil
        let name = isOther ? "\(column.name)_\(table.runtime.entity.name ?? "")" : column.name
        return add(column, named: columnNames[family].take(name), of: column.name, to: family)
    }

    /// By family and the name of a property: the columns.
    private var columnOwners: [Int: [String: [Int]]] = [:]

    private mutating func add(_ column: FamilyTable.Column, named name: String, of property: String, to family: Int) -> Int {
        let place = families[family].columns.count
        columnOwners[family, default: [:]][property, default: []].append(place)
        var named = FamilyTable.Column(name: name, type: column.type)
        (named.family, named.isChecked) = (column.family, column.isChecked)
        families[family].columns.append(named)
        return place
    }

    private mutating func target(of tables: [EntityTable], _ column: Int, in family: Int) -> BoundEntity.Target {
        guard tables.count > 1 else {
            return .init(entityColumn: nil, entity: tables.first.map(number) ?? 0, family: families[family].columns[column].family)
        }
        let name = families[family].columns[column].name + "_e"
        let known = columnOwners[family]?["\0" + name]?.first
        let place = known ?? add(.init(name: name, type: .smallint), named: columnNames[family].take(name), of: "\0" + name, to: family)
        return .init(entityColumn: place, entity: 0, family: families[family].columns[column].family)
    }

    // MARK: Indexes

    private mutating func addIndexes(of table: EntityTable) {
        guard let entity = bound[Int(table.id.rawValue)] else { return }
        for index in table.keyIndexes {
            let parts = index.parts.compactMap { part in
                entity.field(part.property).map { FamilyTable.Index.Part(column: $0.column, isAscending: part.isAscending) }
            }
            guard parts.count == index.parts.count else { continue }
            if let number = index.constraint {
                add(number, parts.map(\.column), entity, index.parts.map { table.runtime.properties[$0.property].name })
            } else if !families[entity.family].indexes.contains(where: { $0.parts == parts }) {
                let name = indexName(entity.family, parts.map(\.column))
                families[entity.family].indexes.append(.init(name: name, parts: parts))
            }
        }
    }

    private mutating func indexName(_ family: Int, _ columns: [Int]) -> String {
        let names = columns.map { families[family].columns[$0].name }
        return indexNames.take(families[family].name + "_" + names.joined(separator: "_"))
    }

    private mutating func add(_ number: UInt16, _ columns: [Int], _ entity: BoundEntity, _ attributes: [String]) {
        let family = entity.family
        guard !families[family].constraints.contains(where: { $0.number == number && $0.columns == columns }) else { return }
        let all = bound.compactMap(\.self).filter { $0.family == family }
        let covered = all.filter { other in other.table.keyIndexes.contains { $0.constraint == number } }
        families[family].constraints.append(.init(
            number: number, name: indexName(family, columns), attributes: attributes, columns: columns,
            entities: covered.count == all.count ? nil : covered.map(\.number).sorted()))
    }

    // MARK: Links

    /// The name of each relationship that has a table: the first of those that its entities give it.
    private mutating func addLinks() {
        var names: [TableID: (name: String, link: JoinTable, source: EntityTable, property: Int)] = [:]
        for table in tables {
            for (property, source) in table.members.enumerated() {
                guard case .link(let link, true)? = source else { continue }
                let name = "\(table.runtime.entity.name ?? "")_\(table.runtime.properties[property].name)"
                if names[link.id].map({ name < $0.name }) ?? true { names[link.id] = (name, link, table, property) }
            }
        }
        for (id, found) in names.sorted(by: { $0.value.name < $1.value.name }) {
            let destination = found.source.runtime.properties[found.property].destination
            linkPlaces[id] = links.count
            let name = tableNames.take(found.name)
            links.append(LinkTable(
                name: name, quoted: qualified(name), sourceFamily: family(of: found.source.runtime.entity) ?? 0,
                destinationFamily: destination.flatMap(family) ?? 0, isOrdered: found.link.isOrdered,
                isInverseOrdered: found.link.inverse != nil, isExclusive: found.link.isExclusive))
        }
    }
}

extension FamilyTable.Column {
    /// Whether the column may have the values of another one.
    fileprivate func serves(_ other: FamilyTable.Column) -> Bool { type == other.type && family == other.family }
}
