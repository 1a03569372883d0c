import Foundation
import Heartwood

/// The indexes of one table of a new store. Facts, "indexes".
struct CoreDataIndexes {
    let table: String
    let entities: [NSEntityDescription]
    let columns: [CoreDataColumn]
    /// The columns in the order in which they got their names.
    let claims: [CoreDataColumn]

    var all: [SQLiteIndexDefinition] {
        var names: Set<String> = []
        return (keys + constraints + fetchIndexes).filter { names.insert($0.name.lowercased()).inserted }
    }

    private var keys: [SQLiteIndexDefinition] {
        let hasHierarchy = entities.contains { !$0.subentities.isEmpty }
        let keys = claims.filter(\.isKey).compactMap { claim in position(of: claim.name).map { (name: claim.name, position: $0) } }
        return (keys + (hasHierarchy ? [(name: "Z_ENT", position: 1)] : [])).map { name, position in
            let index = "\(table)_\(name)_INDEX"
            return SQLiteIndexDefinition(
                name: index, statement: "CREATE INDEX \(SQLText.name(index)) ON \(SQLText.name(table)) (\(SQLText.name(name)))",
                terms: [SQLiteIndexDefinition.Term(column: position)])
        }
    }

    private var constraints: [SQLiteIndexDefinition] {
        entities.flatMap { entity in
            entity.ownUniquenessConstraints.compactMap { names in
                let elements = names.map { (name: $0, isAscending: true) }
                return index("Z_\(entity.name ?? "")_UNIQUE_\(names.joined(separator: "_"))", entity, elements, isUnique: true)
            }
        }
    }

    private var fetchIndexes: [SQLiteIndexDefinition] {
        entities.flatMap { entity in
            entity.indexes.compactMap { index in
                let elements = index.elements.compactMap { element in element.property.map { (name: $0.name, isAscending: element.isAscending) } }
                guard index.isWritten(of: entity), elements.count == index.elements.count, !index.isOverOneRelationship else { return nil }
                let condition = PartialIndexCondition(index, of: entity, datesAreNumbers: true)
                return self.index("Z_\(entity.name ?? "")_\(index.name)", entity, elements, isUnique: false, where: condition)
            }
        }
    }

    private func index(
        _ name: String, _ entity: NSEntityDescription, _ elements: [(name: String, isAscending: Bool)], isUnique: Bool,
        where condition: PartialIndexCondition? = nil
    ) -> SQLiteIndexDefinition? {
        let terms = elements.compactMap { element in
            column(named: element.name, of: entity).map { SQLiteIndexDefinition.Term(column: $0, isDescending: !element.isAscending) }
        }
        guard !terms.isEmpty, terms.count == elements.count else { return nil }
        func title(_ column: Int) -> String { SQLText.name(columns[column - CoreDataTables.ownColumns.count].name) }
        let text = terms.map { term in
            "\(title(term.column)) COLLATE BINARY \(term.isDescending ? "DESC" : "ASC")"
        }
        var statement = "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLText.name(name)) ON \(SQLText.name(table)) (\(text.joined(separator: ", ")))"
        let made = condition?.inTable(column: { column(of: $0) }, name: title)
        if condition != nil {
            guard let made else { return nil }
            statement += " WHERE \(made.text)"
        }
        return SQLiteIndexDefinition(name: name, statement: statement, terms: terms, isUnique: isUnique, condition: made?.condition)
    }

    private func position(of name: String) -> Int? {
        columns.firstIndex { $0.name == name }.map { $0 + CoreDataTables.ownColumns.count }
    }

    private func column(named name: String, of entity: NSEntityDescription) -> Int? {
        entity.propertiesByIndex.first { $0.name == name }.flatMap(column(of:))
    }

    private func column(of property: NSPropertyDescription) -> Int? {
        columns.firstIndex { $0.use == .value && $0.property === property }.map { $0 + CoreDataTables.ownColumns.count }
    }
}

extension NSEntityDescription {
    /// The constraints that the entity itself declares, as attribute names.
    var ownUniquenessConstraints: [[String]] { Array(allUniquenessConstraints.dropFirst(superentity?.allUniquenessConstraints.count ?? 0)) }
}

extension NSEntityDescription {
    /// The names of the fetch indexes that an export does not make.
    var unwrittenIndexes: [String] { indexes.filter { !$0.isWritten(of: self) }.map { "\(name ?? "").\($0.name)" } }
}

extension NSFetchIndexDescription {
    /// Whether a new SQLite file gets the index: it is over the values of properties, and its condition, if it has one, can be said in SQL.
    func isWritten(of entity: NSEntityDescription, datesAreNumbers: Bool = true) -> Bool {
        elements.allSatisfy { $0.collationType == .binary && !($0.property is NSExpressionDescription) }
            && (partialIndexPredicate == nil || PartialIndexCondition(self, of: entity, datesAreNumbers: datesAreNumbers) != nil)
    }

    /// Whether the relationship's own index is the same.
    var isOverOneRelationship: Bool {
        partialIndexPredicate == nil && elements.count == 1 && elements[0].property is NSRelationshipDescription
    }
}
