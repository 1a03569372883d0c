import Foundation
import Heartwood
internal import HeartwoodSQLiteBuilder
import RecordLog

/// A table of objects for people who want SQL.
struct PlainTable {
    /// A column, and the property that it has.
    struct Column {
        let name: String
        let claim: CoreDataColumn

        var isOrder: Bool { claim.use == .order }

        /// Whether each row of the table has a value.
        fileprivate(set) var isDemanded: Bool

        var type: String { isOrder ? "INTEGER" : PropertyKind(claim.property).sqlite.plainType }

        /// - Parameter link: the source of an order.
        func source(of entity: NSEntityDescription, _ link: ExportSource?) -> ExportSource {
            guard claim.belongs(to: entity) else { return .null }
            if let link { return link }
            guard let index = entity.propertiesByIndex.firstIndex(where: { $0 === claim.property }) else { return .null }
            if claim.property is NSRelationshipDescription { return .key(property: index, mustExist: true) }
            return PropertyKind(claim.property).sqlite.plainForm.map { ExportSource.value(property: index, $0) } ?? .null
        }
    }

    let name: String
    /// By number.
    let entities: [NSEntityDescription]
    private(set) var columns: [Column]
    var hasEntityColumn: Bool { entities.count > 1 }
    /// The columns before the properties'.
    var ownCount: Int { hasEntityColumn ? 2 : 1 }

    init(_ name: String, _ entities: [NSEntityDescription]) {
        self.name = name
        self.entities = entities
        var names = SQLNames(), columns: [Column] = []
        for own in entities.count > 1 ? ["id", "entity"] : ["id"] { _ = names.take(own, or: own) }
        for entity in entities {
            let isOfAll = entities.allSatisfy { $0.isKindOf(entity: entity) }
            func take(_ name: String) -> String {
                names.take(name, or: "\(entity.name ?? "")_\(name)")
            }
            for (_, property) in entity.ownPropertiesByName where !property.isTransient && PropertyKind(property).columnType != nil {
                let claim = CoreDataColumn(name: property.name, owner: entity, property: property, use: .value)
                let isDemanded = isOfAll && property is NSAttributeDescription && !property.isOptional && !property.name.contains(".")
                let name = property.name.replacing(".", with: "_")
                columns.append(Column(name: take(name), claim: claim, isDemanded: isDemanded))
                guard let inverse = (property as? NSRelationshipDescription)?.inverseRelationship, inverse.isToMany, inverse.isOrdered
                else { continue }
                columns.append(
                    Column(
                        name: take("\(name)_position"), claim: CoreDataColumn(name: name, owner: entity, property: property, use: .order),
                        isDemanded: false))
            }
        }
        self.columns = columns
    }

    /// Takes the demand from columns for which a row has no value.
    mutating func checkDemands(_ schema: RecordLogSchema, _ snapshot: Snapshot) throws {
        for case let table? in entities.map(schema.table(of:)) {
            var demanded = columns.indices.filter { columns[$0].isDemanded }.map { column in
                (column: column, property: columns[column].claim.property.index)
            }
            guard !demanded.isEmpty else { continue }
            try snapshot.scan(table.id) { row in
                let accesses = try table.accesses(of: row)
                demanded.removeAll { column, property in
                    let isMissing = accesses[property].isAbsent || row.isNull(accesses[property])
                    if isMissing { columns[column].isDemanded = false }
                    return isMissing
                }
                return !demanded.isEmpty
            }
        }
    }

    // MARK: Statements

    /// - Parameter destination: the table of an entity's rows.
    func statement(_ destination: (NSEntityDescription?) -> String?) -> String {
        let own = ["id INTEGER PRIMARY KEY"] + (hasEntityColumn ? ["entity TEXT NOT NULL"] : [])
        let parts = columns.map { column in
            var text = "\(SQLNames.quoted(column.name)) \(column.type)\(column.isDemanded ? " NOT NULL" : "")"
            if !column.isOrder, let relationship = column.claim.property as? NSRelationshipDescription,
                let table = destination(relationship.destinationEntity) {
                text += " REFERENCES \(SQLNames.quoted(table)) (id)"
            }
            return text
        }
        return "CREATE TABLE \(SQLNames.quoted(name)) (\((own + parts).joined(separator: ", ")))"
    }

    /// One for each foreign key, each uniqueness constraint and each plain fetch index.
    func indexes(_ names: inout SQLNames) -> [SQLiteIndexDefinition] {
        var result: [SQLiteIndexDefinition] = []
        func add(
            _ base: String, _ terms: [SQLiteIndexDefinition.Term], isUnique: Bool = false,
            where condition: (text: String, condition: SQLiteRowCondition)? = nil
        ) {
            let index = names.take("\(name)_\(base)", or: "\(name)_\(base)_index")
            let text = terms.map { SQLNames.quoted(columns[$0.column - ownCount].name) + ($0.isDescending ? " DESC" : "") }
            let statement = "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLNames.quoted(index)) ON \(SQLNames.quoted(name)) "
                + "(\(text.joined(separator: ", ")))\(condition.map { " WHERE \($0.text)" } ?? "")"
            result.append(SQLiteIndexDefinition(
                name: index, statement: statement, terms: terms, isUnique: isUnique, condition: condition?.condition))
        }
        for (index, column) in columns.enumerated() where column.claim.property is NSRelationshipDescription && !column.isOrder {
            add(column.name, [.init(column: index + ownCount)])
        }
        for entity in entities {
            for constraint in entity.ownUniquenessConstraints {
                let terms = constraint.compactMap { term($0, entity, isDescending: false) }
                if terms.count == constraint.count { add("unique_\(constraint.joined(separator: "_"))", terms, isUnique: true) }
            }
            for index in entity.indexes where index.isWritten(of: entity, datesAreNumbers: false) && !index.isOverOneRelationship {
                let terms = index.elements.compactMap { term($0.property?.name ?? "", entity, isDescending: !$0.isAscending) }
                let condition = PartialIndexCondition(index, of: entity, datesAreNumbers: false)?.inTable(
                    column: { column(of: $0) }, name: { SQLNames.quoted(columns[$0 - ownCount].name) })
                guard !terms.isEmpty, terms.count == index.elements.count, index.partialIndexPredicate == nil || condition != nil else { continue }
                add(index.name, terms, where: condition)
            }
        }
        return result
    }

    private func term(_ property: String, _ entity: NSEntityDescription, isDescending: Bool) -> SQLiteIndexDefinition.Term? {
        entity.propertiesByIndex.first { $0.name == property }.flatMap(column(of:)).map {
            SQLiteIndexDefinition.Term(column: $0, isDescending: isDescending)
        }
    }

    private func column(of property: NSPropertyDescription) -> Int? {
        columns.firstIndex { !$0.isOrder && $0.claim.property === property }.map { $0 + ownCount }
    }
}
