import Foundation

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
                name: index, statement: "CREATE INDEX \(SQLText.name(index)) ON \(SQLText.name(table)) (\(SQLText.name(name)))", terms: [SQLiteIndexDefinition.Term(column: position)])
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
                guard index.isPlain, elements.count == index.elements.count, !index.isOverOneRelationship else { return nil }
                return self.index("Z_\(entity.name ?? "")_\(index.name)", entity, elements, isUnique: false)
            }
        }
    }

    private func index(
        _ name: String, _ entity: NSEntityDescription, _ elements: [(name: String, isAscending: Bool)], isUnique: Bool
    ) -> SQLiteIndexDefinition? {
        let terms = elements.compactMap { element in
            column(named: element.name, of: entity).map { SQLiteIndexDefinition.Term(column: $0, isDescending: !element.isAscending) }
        }
        guard !terms.isEmpty, terms.count == elements.count else { return nil }
        let text = terms.map { term in
            "\(SQLText.name(columns[term.column - CoreDataTables.ownColumns.count].name)) COLLATE BINARY \(term.isDescending ? "DESC" : "ASC")"
        }
        let statement = "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLText.name(name)) ON \(SQLText.name(table)) (\(text.joined(separator: ", ")))"
        return SQLiteIndexDefinition(name: name, statement: statement, terms: terms, isUnique: isUnique)
    }

    private func position(of name: String) -> Int? {
        columns.firstIndex { $0.name == name }.map { $0 + CoreDataTables.ownColumns.count }
    }

    private func column(named name: String, of entity: NSEntityDescription) -> Int? {
        guard let property = entity.propertiesByIndex.first(where: { $0.name == name }),
            let index = columns.firstIndex(where: { $0.use == .value && $0.property === property })
        else { return nil }
        return index + CoreDataTables.ownColumns.count
    }
}

extension NSEntityDescription {
    /// The constraints that the entity itself declares, as attribute names.
    var ownUniquenessConstraints: [[String]] { Array(allUniquenessConstraints.dropFirst(superentity?.allUniquenessConstraints.count ?? 0)) }
}

extension NSEntityDescription {
    /// The names of the fetch indexes that an export does not make.
    var unwrittenIndexes: [String] { indexes.filter { !$0.isPlain }.map { "\(name ?? "").\($0.name)" } }
}

extension NSFetchIndexDescription {
    /// Whether the index is over the values of properties, and over all objects.
    var isPlain: Bool {
        partialIndexPredicate == nil && elements.allSatisfy { $0.collationType == .binary && !($0.property is NSExpressionDescription) }
    }

    var isOverOneRelationship: Bool { elements.count == 1 && elements[0].property is NSRelationshipDescription }
}
