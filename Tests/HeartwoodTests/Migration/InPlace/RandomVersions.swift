import Foundation
import HeartwoodTestSupport

@testable import Heartwood

/// Random models, and random versions that follow from them.
struct RandomVersions {
    typealias Entity = ModelVersion.Entity
    typealias Attribute = ModelVersion.Attribute
    typealias Relationship = ModelVersion.Relationship

    var generator: SeededGenerator
    private var count = 0

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private mutating func name(_ prefix: String) -> String {
        count += 1
        // Chosen so that a new name changes the sort order.
        return "\(prefix)\(["a", "m", "z"].randomElement(using: &generator)!)\(count)"
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private static let types: [NSAttributeType] = [
        .stringAttributeType, .stringAttributeType, .stringAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
        .doubleAttributeType,
        .booleanAttributeType, .dateAttributeType, .binaryDataAttributeType, .UUIDAttributeType,
    ]

    static func value(_ type: NSAttributeType, _ number: Int) -> Any {
        switch type {
        case .stringAttributeType: "text \(number)"
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number
        case .doubleAttributeType: Double(number) / 4
        case .booleanAttributeType: number % 2 == 0
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number))
        case .binaryDataAttributeType: Data(repeating: UInt8(number % 256), count: number % 7 == 0 ? 9000 : number % 50)
        default: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number % 256)))
        }
    }

    /// A value for an attribute: null, an end of its type, the old value, or one of `value`, which index checks look up.
    static func draw(_ type: NSAttributeType, from old: Any?, _ generator: inout SeededGenerator) -> Any? {
        guard Int.random(in: 0..<5, using: &generator) > 0 else { return value(type, Int.random(in: 0..<200, using: &generator)) }
        return ValueDomain(longest: 9000).draw(attribute: type, from: old, &generator)
    }

    private mutating func attribute() -> Attribute {
        let type = Self.types.randomElement(using: &generator)!
        var made = Attribute(name: name("x"), type: type)
        if chance(40) { made.initial = Self.value(type, Int.random(in: 0..<30, using: &generator)) }
        if type == .binaryDataAttributeType { made.isExternal = chance(50) }
        return made
    }

    private mutating func addPair(to version: inout ModelVersion) {
        let from = version.entities.indices.randomElement(using: &generator)!, to = version.entities.indices.randomElement(using: &generator)!
        let one = name("r"), other = name("r")
        let source = version.entities[from].name, destination = version.entities[to].name
        let hasInverse = chance(75)
        var end = Relationship(name: one, destination: destination, inverse: hasInverse ? other : nil, isToMany: chance(60))
        end.isOrdered = end.isToMany && chance(40)
        version.entities[from].relationships.append(end)
        guard hasInverse else { return }
        var back = Relationship(name: other, destination: source, inverse: one, isToMany: chance(50))
        back.isOrdered = back.isToMany && chance(30)
        version.entities[to].relationships.append(back)
    }

    mutating func first() -> ModelVersion {
        var version = ModelVersion()
        for index in 0..<Int.random(in: 2...5, using: &generator) {
            var entity = Entity(name: name("E"))
            if index > 0, chance(40) { entity.parent = version.entities.randomElement(using: &generator)!.name }
            for _ in 0..<Int.random(in: 1...6, using: &generator) { entity.attributes.append(attribute()) }
            version.entities.append(entity)
        }
        for _ in 0..<Int.random(in: 1...5, using: &generator) { addPair(to: &version) }
        return version
    }

    /// A random next version, with the former name of each part.
    mutating func next(of old: ModelVersion) -> ModelVersion {
        var version = old
        for index in version.entities.indices {
            for at in version.entities[index].attributes.indices { version.entities[index].attributes[at].was = nil }
            for at in version.entities[index].relationships.indices { version.entities[index].relationships[at].was = nil }
            version.entities[index].was = nil
        }
        for _ in 0..<Int.random(in: 1...6, using: &generator) { change(&version, old) }
        addIndexes(to: &version)
        return version
    }

    /// Indexes over columns, over an expression, and over some rows, with attributes that are new, renamed or had a twin.
    private mutating func addIndexes(to version: inout ModelVersion) {
        for index in version.entities.indices {
            var indexes: [(name: String, keys: [String], predicate: String?)] = []
            for attribute in version.entities[index].attributes where !attribute.isExternal && chance(60) {
                indexes.append((name: "by\(indexes.count)", keys: [attribute.name], predicate: nil))
                if attribute.type == .stringAttributeType {
                    indexes.append((name: "by\(indexes.count)", keys: ["uppercase:(\(attribute.name))"], predicate: nil))
                }
                if attribute.type == .integer64AttributeType {
                    indexes.append((name: "by\(indexes.count)", keys: [attribute.name], predicate: "\(attribute.name) > 40"))
                }
            }
            version.entities[index].indexes = indexes
        }
    }

    private mutating func change(_ version: inout ModelVersion, _ old: ModelVersion) {
        let index = version.entities.indices.randomElement(using: &generator)!
        switch Int.random(in: 0..<14, using: &generator) {
        case 0: version.entities[index].attributes.append(attribute())
        case 1: if !version.entities[index].attributes.isEmpty { version.entities[index].attributes.removeLast() }
        case 2: rename(entity: index, in: &version)
        case 3:
            guard let at = version.entities[index].attributes.indices.randomElement(using: &generator) else { return }
            let before = version.entities[index].attributes[at]
            version.entities[index].attributes[at].was = before.was ?? before.name
            version.entities[index].attributes[at].name = name("x")
        case 4:
            guard let at = version.entities[index].attributes.indices.randomElement(using: &generator) else { return }
            let type = version.entities[index].attributes[at].type
            switch type {
            case .integer16AttributeType, .integer32AttributeType: version.entities[index].attributes[at].type = .integer64AttributeType
            case .binaryDataAttributeType: version.entities[index].attributes[at].isExternal.toggle()
            default:
                version.entities[index].attributes[at].isOptional = false
                version.entities[index].attributes[at].initial = Self.value(type, 3)
            }
        case 5: addPair(to: &version)
        case 6: remove(entity: index, from: &version)
        case 7: version.entities.append(Entity(name: name("E"), attributes: [attribute()]))
        case 8: changeEnd(in: &version) { $0.isOrdered = $0.isToMany && !$0.isOrdered }
        case 9: changeEnd(in: &version) { $0.isToMany = true }
        case 10: renameEnd(in: &version)
        case 11: dropInverse(in: &version)
        case 12: addInverse(in: &version)
        default:
            // A new parent takes over its child's properties.
            guard version.entities[index].parent == nil else { return }
            let parent = name("E")
            version.entities.append(
                Entity(name: parent, attributes: version.entities[index].attributes, relationships: version.entities[index].relationships))
            let child = version.entities[index].name
            version.entities[index].attributes = []
            version.entities[index].relationships = []
            version.entities[index].indexes = []
            version.entities[index].parent = parent
            // Relationships with an inverse now lead to the parent.
            for other in version.entities.indices {
                for at in version.entities[other].relationships.indices
                where version.entities[other].relationships[at].destination == child && version.entities[other].relationships[at].inverse != nil {
                    version.entities[other].relationships[at].destination = parent
                }
            }
        }
    }

    private mutating func rename(entity index: Int, in version: inout ModelVersion) {
        let before = version.entities[index], new = name("E")
        version.entities[index].was = before.was ?? before.name
        version.entities[index].name = new
        for other in version.entities.indices {
            if version.entities[other].parent == before.name { version.entities[other].parent = new }
            for at in version.entities[other].relationships.indices where version.entities[other].relationships[at].destination == before.name {
                version.entities[other].relationships[at].destination = new
            }
        }
    }

    private mutating func remove(entity index: Int, from version: inout ModelVersion) {
        let gone = version.entities[index]
        guard version.entities.count > 2, !version.entities.contains(where: { $0.parent == gone.name }) else { return }
        version.entities.remove(at: index)
        for other in version.entities.indices {
            version.entities[other].relationships.removeAll { end in
                end.destination == gone.name
                    || end.inverse.map { inverse in gone.relationships.contains { $0.name == inverse && $0.inverse == end.name } } == true
            }
        }
    }

    private func ends(of version: ModelVersion) -> [(Int, Int)] {
        version.entities.indices.flatMap { index in version.entities[index].relationships.indices.map { (index, $0) } }
    }

    private mutating func changeEnd(in version: inout ModelVersion, _ change: (inout Relationship) -> Void) {
        guard let (index, at) = ends(of: version).randomElement(using: &generator) else { return }
        change(&version.entities[index].relationships[at])
    }

    /// The inverse end of a relationship's end.
    private func inverse(_ index: Int, _ at: Int, _ version: ModelVersion) -> (Int, Int)? {
        let end = version.entities[index].relationships[at]
        return ends(of: version).first { other in
            let candidate = version.entities[other.0].relationships[other.1]
            return candidate.name == end.inverse && candidate.inverse == end.name
        }
    }

    private mutating func renameEnd(in version: inout ModelVersion) {
        guard let (position, at) = ends(of: version).randomElement(using: &generator) else { return }
        let before = version.entities[position].relationships[at], new = name("r")
        if let (other, index) = inverse(position, at, version) { version.entities[other].relationships[index].inverse = new }
        version.entities[position].relationships[at].was = before.was ?? before.name
        version.entities[position].relationships[at].name = new
    }

    private mutating func dropInverse(in version: inout ModelVersion) {
        guard let (position, at) = ends(of: version).randomElement(using: &generator), let (other, index) = inverse(position, at, version)
        else { return }
        version.entities[position].relationships[at].inverse = nil
        version.entities[other].relationships.remove(at: index)
    }

    private mutating func addInverse(in version: inout ModelVersion) {
        guard let (index, at) = ends(of: version).randomElement(using: &generator) else { return }
        let end = version.entities[index].relationships[at]
        guard end.inverse == nil, let other = version.entities.indices.first(where: { version.entities[$0].name == end.destination })
        else { return }
        let new = name("r")
        version.entities[index].relationships[at].inverse = new
        // A to-many relationship, since two objects could claim a to-one inverse.
        var back = Relationship(name: new, destination: version.entities[index].name, inverse: end.name, isToMany: true)
        back.isOrdered = chance(30)
        version.entities[other].relationships.append(back)
    }
}
