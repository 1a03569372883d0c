import Foundation
internal import HeartwoodDigests

/// A version of a model, read as far as its version hashes need.
struct VersionModel {
    struct Entity {
        let name: String
        let modifier: String?
        let isAbstract: Bool
        let parent: String?
        let line: Int
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
        var constraints: [[String]] = []
    }

    struct Attribute {
        enum Kind {
            case stored(isExternal: Bool), derived(String), composite(String)
        }

        let property: VersionText.Property
        /// The raw value of `NSAttributeType`.
        let type: UInt
        let kind: Kind
    }

    struct Relationship {
        let property: VersionText.Property
        let destination: String
        let inverse: String?
        let counts: (min: Int, max: Int)
        let rule: UInt
        let isOrdered: Bool
    }

    /// A relationship, by the entity that declares it and its name.
    private struct Key: Hashable {
        let entity: String
        let name: String
    }

    /// The most elements of all composites of one attribute, and the deepest inheritance. The stack has the same bounds.
    private static let elementMax = 10_000, depthMax = 200

    let path: String
    var entities: [Entity] = []
    var composites: [String: [Attribute]] = [:]

    init(path: String) { self.path = path }

    /// - Throws: `CodeError` for a model that the stack refuses.
    func hashes() throws -> [String: Data] {
        let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        var lineages: [String: [Entity]] = [:]
        for entity in entities { lineages[entity.name] = try lineage(of: entity, byName) }
        let inverses = inverses(lineages)
        var hashes: [String: Data] = [:]
        for entity in entities {
            var lines: [(name: String, lines: [String])] = []
            let lineage = lineages[entity.name] ?? []
            for owner in lineage {
                for attribute in owner.attributes {
                    var budget = Self.elementMax
                    lines.append((attribute.property.name, try self.lines(of: attribute, owner, within: [], &budget)))
                }
                for relationship in owner.relationships {
                    lines.append((relationship.property.name, VersionText.relationship(
                        relationship.property, destination: relationship.destination,
                        inverse: inverses[Key(entity: owner.name, name: relationship.property.name)], counts: relationship.counts,
                        rule: relationship.rule, isOrdered: relationship.isOrdered)))
                }
            }
            hashes[entity.name] = Data(VersionText.hash(of: VersionText.entity(
                name: entity.name, modifier: entity.modifier, isAbstract: entity.isAbstract, parent: entity.parent,
                properties: lines.sorted { $0.name < $1.name }.map(\.lines), constraints: lineage.flatMap(\.constraints))))
        }
        return hashes
    }

    /// Returns the entity and its superentities.
    private func lineage(of entity: Entity, _ byName: [String: Entity]) throws -> [Entity] {
        var result = [entity]
        while let parent = result.last?.parent {
            guard let next = byName[parent], result.count <= Self.depthMax else {
                throw CodeError(path, entity.line, "the entity \(entity.name) inherits from \(parent), which does not exist, or from itself.")
            }
            result.append(next)
        }
        return result
    }

    private func lines(of attribute: Attribute, _ owner: Entity, within outer: [String], _ budget: inout Int) throws -> [String] {
        switch attribute.kind {
        case .stored(let isExternal): return VersionText.attribute(attribute.property, type: attribute.type, isExternal: isExternal)
        case .derived(let derivation): return VersionText.derived(attribute.property, type: attribute.type, derivation: derivation)
        case .composite(let name):
            guard let elements = composites[name], !outer.contains(name), budget >= elements.count else {
                throw CodeError(path, owner.line, "the attribute \(owner.name).\(attribute.property.name) is of a composite that does not exist or "
                    + "is a part of itself.")
            }
            budget -= elements.count
            let sorted = elements.sorted { $0.property.name < $1.property.name }
            return VersionText.composite(attribute.property, elements: try sorted.map { try lines(of: $0, owner, within: outer + [name], &budget) })
        }
    }

    /// The inverse that each relationship has. Where two relationships name a third, only the one that the third names has it.
    private func inverses(_ lineages: [String: [Entity]]) -> [Key: String] {
        var inverses: [Key: String] = [:]
        for entity in entities {
            for side in entity.relationships {
                guard let name = side.inverse, let theirs = lineages[side.destination]?.lazy.compactMap({ owner in
                    owner.relationships.first { $0.property.name == name }
                }).first, theirs.inverse == nil || theirs.inverse == side.property.name
                else { continue }
                inverses[Key(entity: entity.name, name: side.property.name)] = name
            }
        }
        return inverses
    }
}
