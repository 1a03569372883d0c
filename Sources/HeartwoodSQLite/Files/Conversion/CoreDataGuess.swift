import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// A model that has the tables of a store, for a store whose own model is not at hand. Facts, "finding the model", 4.
///
/// (1) Entities, their inheritance, join tables and order columns are exact.
/// (2) An integer column with a column of entity numbers beside it is a to-one relationship, and so is one whose values are keys: see
///     `ReferenceGuesses`.
/// (3) Nothing else tells a name's spelling, the size of an integer, the kind of data, or the entity of a hierarchy that has a column.
struct CoreDataGuess {
    private let schema: CoreDataSchema
    private let names: [Int64: String]
    private let parents: [Int64: Int64]
    private let numbers: EntityNumbers
    /// The roots of hierarchies of several entities.
    private let parentRoots: Set<Int64>
    private let references: ReferenceGuesses
    private(set) var guesses: [String] = []
    /// Statements about columns that may have keys of another entity, or none.
    private(set) var doubts: [String] = []
    private var properties: [Int64: [Property]] = [:]
    private var known: [Int64: Set<String>] = [:]

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

    /// Call it inside of `file.read`.
    init(_ contents: CoreDataContents, _ file: SQLiteFile) throws {
        schema = contents.schema
        numbers = contents.numbers
        let entries = numbers.entries.filter { $0.number < EntityNumbers.bookkeepingMin }
        names = Dictionary(entries.map { ($0.number, $0.name) }) { first, _ in first }
        parents = Dictionary(entries.map { ($0.number, $0.parent) }) { first, _ in first }
        let numbers = numbers
        parentRoots = Set(names.keys.compactMap { number in numbers.root(of: number).flatMap { $0 == number ? nil : $0 } })
        // Core Data names no two entities alike. A hostile file may, and then each would have all columns of one table.
        var seen: Set<String> = []
        let roots = names.sorted { $0.key < $1.key }.filter { number, name in
            numbers.root(of: number) == number && seen.insert(name.uppercased()).inserted
        }
        references = try ReferenceGuesses(file, contents, names: names, roots: roots.map(\.key))
        guesses.append("The spelling of all names: the store has them in capitals.")
        guesses.append("Types: an integer may be a Boolean, a float a double, text a URI, data a UUID or an archived object.")
        for (number, name) in roots { readTable(number, name) }
        for table in schema.objectTables { readJoin(table) }
    }

    // MARK: Tables

    private mutating func readTable(_ root: Int64, _ name: String) {
        let table = ReferenceGuesses.table(name)
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
        let name = Self.spelled(rest), guess = references.guess(.init(table: table, name: column.name))
        let stated = column.declaredType == "INTEGER" ? entityKeys[rest]?.first { names[$0] != nil } : nil
        let destination = stated ?? guess?.destination
        if let destination {
            add(.relationship(name, to: destination, inverse: nil, isToMany: false, isOrdered: false), to: root)
        } else {
            add(.attribute(name, Self.type(column.declaredType)), to: root)
        }
        guard stated == nil, let guess else { return }
        let target = destination.map { "leads to \(names[$0] ?? "")" }
        if let doubt = guess.doubt {
            doubts.append("\(entity).\(name) \(target ?? "is an integer here"): \(doubt).")
        } else if let target {
            guesses.append("\(entity).\(name) \(target), by its name and its values.")
        }
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
        func isOrdered(_ name: Substring) -> Bool { columns.contains { Self.numbered($0, "Z_FOK_")?.name == name } }
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
