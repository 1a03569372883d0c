import Foundation
import Heartwood

/// Predicts the columns of all tables, finds them in the file, and gives each property its place.
struct CoreDataLayoutBuilder {
    private let list: [NSEntityDescription]
    private let numbers: EntityNumbers
    /// nil: only the prediction is asked for.
    private let schema: CoreDataSchema?
    private let path: String
    private var columns: [String: ColumnNames] = [:]
    /// The joins that were found, by relationship.
    private var joins = IdentityTable<JoinTableNames>()

    /// A column's use for its property.
    enum Use { case value, entityKey, owner, order }

    /// The claims of an entity's own properties, by property name: indexes in `order`.
    private var claims = IdentityTable<[String: [Int]]>()
    private var order: [Claimed] = []

    /// A claim of a column, in the order of all claims.
    private struct Claimed {
        let table: String
        let index: Int
        let owner: NSEntityDescription
        let property: NSPropertyDescription
        let use: Use
    }

    init(_ list: [NSEntityDescription], _ numbers: EntityNumbers, _ schema: CoreDataSchema?, path: String) throws {
        self.numbers = numbers
        self.schema = schema
        self.path = path
        let numbered = try list.map { entity in
            guard let number = numbers.number(of: entity) else {
                throw CoreDataFileError.misfit(
                    path, entity.name ?? "", nil, "the store has no entity \(entity.name ?? "?"), which the model has")
            }
            return (number: number, entity: entity)
        }
        // Two entities of the model may claim one number by a renaming identifier.
        for (first, second) in zip(numbered.sorted { $0.number < $1.number }, numbered.sorted { $0.number < $1.number }.dropFirst())
        where first.number == second.number {
            throw CoreDataFileError.misfit(
                path, second.entity.name ?? "", nil,
                "the entities \(first.entity.name ?? "?") and \(second.entity.name ?? "?") are one entity of the store")
        }
        self.list = numbered.sorted { $0.number < $1.number }.map(\.entity)
    }

    mutating func build() throws -> [Int64: CoreDataLayout.Entity] {
        for entity in list { try claimColumns(of: entity) }
        for entity in list { claimColumnsOfOwners(of: entity) }
        for table in columns.keys { columns[table]?.match(schema?.columns(of: table) ?? []) }
        for entity in list { findJoins(of: entity) }
        var result: [Int64: CoreDataLayout.Entity] = [:]
        for entity in list {
            guard let number = numbers.number(of: entity) else { continue }
            let places = try entity.propertiesByIndex.map { try place(of: $0, entity) }
            result[number] = CoreDataLayout.Entity(entity: entity, number: number, table: Self.table(of: entity), places: places)
        }
        return result
    }

    // MARK: Prediction

    static func table(of entity: NSEntityDescription) -> String { "Z" + (entity.chain[0].name ?? "").uppercased() }

    private mutating func claim(_ base: String, _ table: String, _ owner: NSEntityDescription, _ property: NSPropertyDescription, _ use: Use) {
        let index = columns[table, default: ColumnNames()].claim(base)
        claims[owner, default: [:]][property.name, default: []].append(order.count)
        order.append(Claimed(table: table, index: index, owner: owner, property: property, use: use))
    }

    /// The columns of a new store, by table, in the order in which the rules give them their names.
    mutating func predict() throws -> [String: [CoreDataColumn]] {
        for entity in list { try claimColumns(of: entity) }
        for entity in list { claimColumnsOfOwners(of: entity) }
        var result = columns.mapValues { _ in [CoreDataColumn]() }
        for claim in order {
            guard let name = columns[claim.table]?.claims[claim.index].name else { continue }
            result[claim.table]?.append(CoreDataColumn(name: name, owner: claim.owner, property: claim.property, use: claim.use))
        }
        return result
    }

    private mutating func claimColumns(of entity: NSEntityDescription) throws {
        let table = Self.table(of: entity)
        if let schema { try Self.check(table, of: entity, schema, path) }
        columns[table, default: ColumnNames()] = columns[table] ?? ColumnNames()
        for (_, property) in entity.ownPropertiesByName where !property.isTransient {
            if property is NSAttributeDescription, PropertyKind(property).columnType != nil {
                claim("Z" + property.columnName, table, entity, property, .value)
            } else if let relationship = property as? NSRelationshipDescription, !relationship.isToMany {
                claimToOne(relationship, table, entity)
            }
        }
    }

    private static func check(_ table: String, of entity: NSEntityDescription, _ schema: CoreDataSchema, _ path: String) throws {
        guard schema.tables[table] != nil else {
            throw CoreDataFileError.misfit(path, entity.name ?? "", nil, "the store has no table \(table) for the entity \(entity.name ?? "?")")
        }
        for name in ColumnNames.own.sorted() where !schema.has(name, in: table) {
            throw CoreDataFileError.damaged(path, "the table \(table) has no column \(name)")
        }
    }

    private mutating func claimToOne(_ relationship: NSRelationshipDescription, _ table: String, _ entity: NSEntityDescription) {
        claim("Z" + relationship.columnName, table, entity, relationship, .value)
        if let destination = relationship.destinationEntity, !destination.subentities.isEmpty, let number = numbers.number(of: destination) {
            claim("Z\(number)_\(relationship.columnName)", table, entity, relationship, .entityKey)
        }
        if let inverse = relationship.inverseRelationship, inverse.isToMany, inverse.isOrdered {
            claim("Z_FOK_" + relationship.columnName, table, entity, relationship, .order)
        }
    }

    /// The columns in other tables of to-many relationships without an inverse.
    private mutating func claimColumnsOfOwners(of entity: NSEntityDescription) {
        guard let number = numbers.number(of: entity) else { return }
        for (_, property) in entity.ownPropertiesByName {
            guard let relationship = Self.withoutInverse(property), let destination = relationship.destinationEntity else { continue }
            let table = Self.table(of: destination)
            claim("Z\(number)\(relationship.columnName)", table, entity, relationship, .owner)
            if relationship.isOrdered { claim("Z_FOK_\(number)\(relationship.columnName)", table, entity, relationship, .order) }
        }
    }

    private static func withoutInverse(_ property: NSPropertyDescription) -> NSRelationshipDescription? {
        guard let relationship = property as? NSRelationshipDescription, relationship.isToMany, !relationship.isTransient,
            relationship.inverseRelationship == nil
        else { return nil }
        return relationship
    }

    private mutating func findJoins(of entity: NSEntityDescription) {
        guard let schema else { return }
        for (_, property) in entity.ownPropertiesByName {
            guard let relationship = property as? NSRelationshipDescription, relationship.isToMany, !relationship.isTransient,
                let inverse = relationship.inverseRelationship, inverse.isToMany, joins[relationship] == nil
            else { continue }
            let own = side(relationship, entity)
            let other = inverse === relationship ? nil : side(inverse, relationship.destinationEntity?.owner(of: inverse) ?? entity)
            joins[relationship] = JoinTableNames.find(own, inverse: other, schema)
        }
    }

    private func side(_ relationship: NSRelationshipDescription, _ owner: NSEntityDescription) -> JoinTableNames.Side {
        let entities = [owner, relationship.inverseRelationship?.destinationEntity ?? owner]
        return JoinTableNames.Side(
            name: relationship.columnName, owners: entities.compactMap { numbers.number(of: $0) }.reduce(into: []) { list, number in
                if !list.contains(number) { list.append(number) }
            }, isOrdered: relationship.isOrdered, claim: (numbers.number(of: owner) ?? 0, relationship.name))
    }

    // MARK: Places

    private func found(_ owner: NSEntityDescription, _ property: NSPropertyDescription, _ use: Use) -> (table: String, name: String)? {
        guard let claim = claims[owner]?[property.name]?.lazy.map({ order[$0] }).last(where: { $0.use == use }),
            let column = columns[claim.table]?.claims[claim.index], column.isFound
        else { return nil }
        return (claim.table, column.name)
    }

    private func place(of property: NSPropertyDescription, _ entity: NSEntityDescription) throws -> CoreDataLayout.Place? {
        guard !property.isTransient else { return nil }
        let owner = entity.owner(of: property)
        if let relationship = property as? NSRelationshipDescription { return try place(of: relationship, owner) }
        guard PropertyKind(property).columnType != nil else { return nil }
        guard let column = found(owner, property, .value) else { throw missing(owner, property) }
        return .column(column.name)
    }

    private func place(of relationship: NSRelationshipDescription, _ owner: NSEntityDescription) throws -> CoreDataLayout.Place? {
        guard let destination = relationship.destinationEntity, numbers.number(of: destination) != nil else { return nil }
        guard relationship.isToMany else {
            guard let column = found(owner, relationship, .value) else { throw missing(owner, relationship) }
            return .toOne(column.name, entity: found(owner, relationship, .entityKey)?.name)
        }
        guard let inverse = relationship.inverseRelationship else {
            guard let column = found(owner, relationship, .owner) else { throw missing(owner, relationship) }
            return .inverse(table: column.table, column: column.name, order: found(owner, relationship, .order)?.name)
        }
        guard inverse.isToMany else {
            let holder = destination.owner(of: inverse)
            guard let column = found(holder, inverse, .value) else { throw missing(holder, inverse) }
            return .inverse(table: column.table, column: column.name, order: found(holder, inverse, .order)?.name)
        }
        guard let join = joins[relationship] else { throw missing(owner, relationship) }
        return .join(join)
    }

    private func missing(_ owner: NSEntityDescription, _ property: NSPropertyDescription) -> NSError {
        let name = "\(owner.name ?? "?").\(property.name)"
        let isJoin = (property as? NSRelationshipDescription).map { $0.isToMany && $0.inverseRelationship?.isToMany == true } ?? false
        let place = isJoin ? "join table Z_<n>\(property.columnName)" : "column Z\(property.columnName)"
        return CoreDataFileError.misfit(
            path, owner.name ?? "", property.name, "the store has no \(place) for \(name), or several whose digits do not tell which it is")
    }

    // MARK: Differences

    func differences() -> [String] {
        guard let schema else { return [] }
        var result: [String] = [], known = Set(joins.values.map(\.table))
        for (table, names) in columns.sorted(by: { $0.key < $1.key }) {
            known.insert(table)
            let claimed = Set(names.claims.map(\.name)).union(ColumnNames.own)
            result += schema.columns(of: table).subtracting(claimed).sorted().map { "the column \(table).\($0) is of no property" }
            result += names.claims.filter { !$0.isFound }.map { "the column \(table).\($0.name) is not there" }
        }
        result += schema.objectTables.filter { !known.contains($0) && !$0.hasPrefix("ZT_") }.map { "the table \($0) is of no entity" }
        return result
    }
}
