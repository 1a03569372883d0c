import Heartwood
import RecordLog

/// The order of a query's rows in a statement: by the sort keys, then by entity, then by number.
struct SQLOrder {
    /// The joins that the keys need, behind the table.
    private(set) var joins = ""
    /// The text behind ORDER BY.
    private(set) var text = ""

    /// - Parameters:
    ///   - entities: of the query, in its order.
    ///   - alias: of their table in the statement.
    /// - Returns: nil where SQL has no equal order.
    init?(_ keys: [SortKey], _ entities: [BoundEntity], _ layout: PostgreSQLLayout, _ alias: String) {
        var parts: [String] = []
        for (index, key) in keys.enumerated() {
            guard key.textOrder == .literal, let column = column(key.path[...], entities, layout, alias, "o\(index)_") else { return nil }
            parts.append(column + (key.isAscending ? " NULLS FIRST" : " DESC NULLS LAST"))
        }
        if let entity = Self.byEntity(entities, alias) { parts.append(entity) }
        parts.append("\(alias).\(FamilyTable.number)")
        text = parts.joined(separator: ", ")
    }

    /// The column at the end of a path, which all of the entities have.
    private mutating func column(
        _ path: ArraySlice<String>, _ entities: [BoundEntity], _ layout: PostgreSQLLayout, _ alias: String, _ name: String
    ) -> String? {
        guard let key = path.first, let first = entities.first, let field = first.field(named: key),
            entities.allSatisfy({ $0.family == first.family && $0.field(named: key)?.column == field.column })
        else { return nil }
        let column = "\(alias).\(layout.families[first.family].columns[field.column].quoted)"
        guard path.count > 1 else { return Self.isSortable(field) ? column : nil }
        guard field.kind == .toOne, let family = field.target?.family else { return nil }
        let other = name + "\(path.count)", next = layout.destinations(of: field.property, first)
        joins += " LEFT JOIN \(layout.families[family].quoted) \(other) ON \(other).\(FamilyTable.number) = \(column)"
        return self.column(path.dropFirst(), next, layout, other, name)
    }

    /// References to several entities are sorted by entity first.
    private static func isSortable(_ field: BoundEntity.Field) -> Bool {
        switch field.kind {
        case .externalData, .transformable: false
        case .toOne: field.target?.entityColumn == nil
        default: true
        }
    }

    /// nil for one entity.
    private static func byEntity(_ entities: [BoundEntity], _ alias: String) -> String? {
        guard entities.count > 1 else { return nil }
        let numbers = entities.map(\.number), column = "\(alias).\(FamilyTable.entity)"
        if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) { return column }
        return "CASE \(column) " + numbers.enumerated().map { "WHEN \($1) THEN \($0) " }.joined() + "END"
    }
}

extension PostgreSQLLayout {
    /// The entities that a relationship may lead to, in the order of the stack's tables.
    func destinations(of property: Int, _ entity: BoundEntity) -> [BoundEntity] {
        guard let destination = entity.table.runtime.properties[property].destination else { return [] }
        return entities.filter { $0.table.runtime.entity.isKindOf(entity: destination) }
    }
}
