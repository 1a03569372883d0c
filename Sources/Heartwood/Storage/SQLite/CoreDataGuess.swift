import Foundation

/// A model that has the tables of a store, for a store whose own model is not at hand. Facts, "finding the model", 4.
///
/// (1) Entities, their inheritance, join tables and order columns are exact.
/// (2) A column with the index `<TABLE>_<COLUMN>_INDEX`, or with a column of entity numbers beside it, is a to-one relationship.
/// (3) Nothing else tells a name's spelling, the size of an integer, the kind of data, or the entity of a hierarchy that has a column.
struct CoreDataGuess {
    private let schema: CoreDataSchema
    private let names: [Int64: String]
    private let parents: [Int64: Int64]
    private let numbers: EntityNumbers
    /// The roots of hierarchies of several entities.
    private let parentRoots: Set<Int64>
    private(set) var guesses: [String] = []
    private var properties: [Int64: [Property]] = [:]
    private var known: [Int64: Set<String>] = [:]

    private static let namesakesMax = 1000

    private enum Property {
        case attribute(String, NSAttributeType)
        case relationship(String, to: Int64, inverse: String?, isToMany: Bool, isOrdered: Bool)

        var name: String {
            switch self {
            case .attribute(let name, _): name
            case .relationship(let name, _, _, _, _): name
            }
        }
    }

    init(_ contents: CoreDataContents) {
        schema = contents.schema
        numbers = contents.numbers
        let entries = numbers.entries.filter { $0.number < EntityNumbers.bookkeepingMin }
        names = Dictionary(entries.map { ($0.number, $0.name) }) { first, _ in first }
        parents = Dictionary(entries.map { ($0.number, $0.parent) }) { first, _ in first }
        let numbers = numbers
        parentRoots = Set(names.keys.compactMap { number in numbers.root(of: number).flatMap { $0 == number ? nil : $0 } })
        guesses.append("The spelling of all names: the store has them in capitals.")
        guesses.append("Types: an integer may be a Boolean, a float a double, text a URI, data a UUID or an archived object.")
        // Core Data names no two entities alike. A hostile file may, and then each would have all columns of one table.
        var seen: Set<String> = []
        for (number, name) in names.sorted(by: { $0.key < $1.key }) where numbers.root(of: number) == number {
            if seen.insert(name.uppercased()).inserted { readTable(number, name) }
        }
        for table in schema.objectTables { readJoin(table) }
    }

    // MARK: Tables

    private mutating func readTable(_ root: Int64, _ name: String) {
        let table = "Z" + name.uppercased()
        guard let columns = schema.tables[table] else {
            guesses.append("The entity \(name) has no table \(table).")
            return
        }
        if parentRoots.contains(root) {
            guesses.append("\(name) has all attributes of its subentities.")
        }
        let keys = Self.entityKeys(columns)
        for column in columns where column.name.hasPrefix("Z") && !column.name.hasPrefix("Z_") { read(column, of: table, root, name, keys) }
    }

    /// The numbers in the names of entity keys, `Z<n>_REL`, by the names behind them.
    private static func entityKeys(_ columns: [CoreDataSchema.Column]) -> [Substring: [Int64]] {
        columns.reduce(into: [:]) { keys, column in
            let rest = column.name.dropFirst(), digits = rest.prefix { $0.isASCII && $0.isNumber }, behind = rest.dropFirst(digits.count)
            if let number = Int64(digits), behind.hasPrefix("_") { keys[behind.dropFirst(), default: []].append(number) }
        }
    }

    private mutating func read(
        _ column: CoreDataSchema.Column, of table: String, _ root: Int64, _ entity: String, _ entityKeys: [Substring: [Int64]]
    ) {
        let rest = column.name.dropFirst(), digits = rest.prefix { $0.isASCII && $0.isNumber }, behind = rest.dropFirst(digits.count)
        if let owner = Int64(digits), names[owner] != nil, !behind.isEmpty {
            // Z<n>_REL belongs to the column ZREL.
            guard !behind.hasPrefix("_") else { return }
            let isOrdered = schema.has("Z_FOK_\(digits)\(behind)", in: table)
            add(.relationship(Self.spelled(behind), to: root, inverse: nil, isToMany: true, isOrdered: isOrdered), to: owner)
            return
        }
        let keys = entityKeys[rest] ?? []
        let isReference = schema.hasReferenceIndex(column.name, of: table) || schema.has("Z_FOK_\(rest)", in: table) || !keys.isEmpty
        guard isReference else { return add(.attribute(Self.spelled(rest), Self.type(column.declaredType)), to: root) }
        if let destination = keys.first(where: { names[$0] != nil }) ?? namesake(of: rest) {
            add(.relationship(Self.spelled(rest), to: destination, inverse: nil, isToMany: false, isOrdered: false), to: root)
            if keys.isEmpty { guesses.append("\(entity).\(Self.spelled(rest)) leads to \(names[destination] ?? ""), by its name.") }
        } else {
            guesses.append("\(entity).\(Self.spelled(rest)) has keys of an entity that nothing names; it is an integer here.")
            add(.attribute(Self.spelled(rest), .integer64AttributeType), to: root)
        }
    }

    /// The entity whose name is part of a relationship's, or has it as a part; the longest such name.
    private func namesake(of column: Substring) -> Int64? {
        // A real model has some hundred entities; a hostile file may have very many, beside very many columns.
        guard names.count <= Self.namesakesMax else { return nil }
        return names.filter { _, name in
            let name = name.uppercased()
            return column.contains(name) || name.contains(column)
        }.min { ($0.value == $1.value ? $0.key < $1.key : $0.value.count > $1.value.count) }?.key
    }

    private static func type(_ declared: String) -> NSAttributeType {
        switch declared {
        case "INTEGER": .integer64AttributeType
        case "FLOAT": .doubleAttributeType
        case "DECIMAL": .decimalAttributeType
        case "TIMESTAMP": .dateAttributeType
        case "VARCHAR": .stringAttributeType
        default: .binaryDataAttributeType
        }
    }

    private static func spelled(_ column: some StringProtocol) -> String { column.lowercased() }

    private mutating func add(_ property: Property, to entity: Int64) {
        guard known[entity, default: []].insert(property.name).inserted else { return }
        properties[entity, default: []].append(property)
    }

    // MARK: Join tables

    private mutating func readJoin(_ table: String) {
        guard let owner = Self.numbered(table, "Z_"), names[owner.number] != nil else { return }
        let columns = (schema.tables[table] ?? []).map(\.name), keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
        let isReflexive = keys.contains(JoinTableNames.reflexive), sides = keys.compactMap { Self.numbered($0, "Z_") }
        func isOrdered(_ name: Substring) -> Bool { columns.contains { $0.hasPrefix("Z_FOK_") && $0.hasSuffix(name) } }
        let name = Self.spelled(owner.name)
        if isReflexive, sides.count == 1 {
            return add(.relationship(name, to: owner.number, inverse: name, isToMany: true, isOrdered: isOrdered(owner.name)), to: owner.number)
        }
        guard sides.count == 2 else { return }
        // The column named as the table has the keys of the relationship's destination.
        let own = sides[0].name.hasPrefix(owner.name) && (sides[0].name == owner.name || sides[1].name != owner.name) ? 0 : 1
        let other = sides[1 - own].name, destination = sides[own].number
        guard names[destination] != nil, names[sides[1 - own].number] != nil else { return }
        add(.relationship(name, to: destination, inverse: Self.spelled(other), isToMany: true, isOrdered: isOrdered(owner.name)), to: owner.number)
        add(.relationship(Self.spelled(other), to: owner.number, inverse: name, isToMany: true, isOrdered: isOrdered(other)), to: destination)
    }

    private static func numbered(_ name: String, _ prefix: String) -> (number: Int64, name: Substring)? {
        guard name.hasPrefix(prefix) else { return nil }
        let rest = name.dropFirst(prefix.count), digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), rest.count > digits.count else { return nil }
        return (number, rest.dropFirst(digits.count))
    }

    // MARK: The model

    func model() throws -> NSManagedObjectModel {
        var entities: [Int64: NSEntityDescription] = [:]
        for (number, name) in names {
            let entity = NSEntityDescription()
            entity.name = name
            entities[number] = entity
        }
        for (number, entity) in entities.sorted(by: { $0.key < $1.key }) {
            entity.properties = (properties[number] ?? []).compactMap { Self.property($0, entities) }
        }
        for (number, entity) in entities.sorted(by: { $0.key < $1.key }) {
            for case .relationship(let name, let destination, let inverse?, _, _) in properties[number] ?? [] {
                entity.relationshipsByName[name]?.inverseRelationship = entities[destination]?.relationshipsByName[inverse]
            }
        }
        for (number, parent) in parents where numbers.root(of: number) != nil && parent != 0 {
            if let entity = entities[number] { entities[parent]?.subentities.append(entity) }
        }
        let model = NSManagedObjectModel()
        model.entities = entities.sorted { $0.key < $1.key }.map(\.value)
        return model
    }

    private static func property(_ property: Property, _ entities: [Int64: NSEntityDescription]) -> NSPropertyDescription? {
        switch property {
        case .attribute(let name, let type):
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        case .relationship(let name, let destination, _, let isToMany, let isOrdered):
            guard let entity = entities[destination] else { return nil }
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = entity
            relationship.maxCount = isToMany ? 0 : 1
            relationship.isOptional = true
            relationship.isOrdered = isOrdered
            relationship.deleteRule = .nullifyDeleteRule
            return relationship
        }
    }
}
