import Foundation

/// Makes a model of its document, and refuses one that contradicts itself.
struct ModelBuilder {
    private let document: ModelDocument

    init(_ document: ModelDocument) {
        self.document = document
    }

    private func failure(_ message: String, line: Int?) -> NSError {
        let place = document.source.map { source in line.map { "\(source):\($0): " } ?? "\(source): " } ?? ""
        return CoreDataError.make(NSPersistentStoreIncompatibleSchemaError, place + message)
    }

    /// - Parameter model: the model to fill; nil for a new one.
    func build(into model: NSManagedObjectModel?) throws -> NSManagedObjectModel {
        guard document.version == ModelDocument.currentVersion else {
            throw failure("the model was written by a newer version (\(document.version)); use a newer Heartwood.", line: nil)
        }
        let entities = try makeEntities()
        try connectParents(entities)
        for stated in document.entities { try addRelationships(stated, entities) }
        for stated in document.entities { try connectInverses(stated, entities) }
        for stated in document.entities { try addIndexes(stated, entities) }
        let result = model ?? NSManagedObjectModel()
        result.entities = document.entities.compactMap { entities[$0.name] }
        for (name, members) in document.configurations ?? [:] {
            for member in members where entities[member] == nil {
                throw failure("the configuration \(name) names the entity \(member), which does not exist.", line: nil)
            }
            result.setEntityNames(members, forConfigurationName: name)
        }
        result.versionIdentifiers = Set((document.versionIdentifiers ?? []).map { AnyHashable($0) })
        return result
    }

    private func makeEntities() throws -> [String: NSEntityDescription] {
        var entities: [String: NSEntityDescription] = [:]
        for stated in document.entities {
            guard !stated.name.isEmpty else { throw failure("an entity has no name.", line: stated.line) }
            guard entities[stated.name] == nil else {
                throw failure("there are two entities named \(stated.name); rename one.", line: stated.line)
            }
            let entity = NSEntityDescription()
            entity.name = stated.name
            entity.managedObjectClassName = stated.className ?? "NSManagedObject"
            entity.isAbstract = stated.isAbstract ?? false
            entity.renamingIdentifier = stated.renamingIdentifier
            entity.versionHashModifier = stated.versionHashModifier
            entity.userInfo = stated.userInfo
            entity.properties = try stated.attributes.map { try attribute($0, in: stated) }
            entities[stated.name] = entity
        }
        return entities
    }

    private func attribute(_ stated: ModelDocument.Attribute, in entity: ModelDocument.Entity) throws -> NSAttributeDescription {
        guard let type = NSAttributeType(rawValue: stated.type) else {
            throw failure("the attribute \(entity.name).\(stated.name) has an unknown type.", line: stated.line)
        }
        let attribute = NSAttributeDescription()
        attribute.name = stated.name
        attribute.attributeType = type
        attribute.isOptional = stated.isOptional
        attribute.isTransient = stated.isTransient ?? false
        attribute.allowsExternalBinaryDataStorage = stated.allowsExternalBinaryDataStorage ?? false
        if let text = stated.defaultValue {
            guard let value = DefaultValueText.value(text, type: type) else {
                throw failure("the default value \"\(text)\" does not suit the attribute \(entity.name).\(stated.name).", line: stated.line)
            }
            attribute.defaultValue = value
        }
        if let rules = stated.rules {
            if let pattern = rules.pattern, (try? NSRegularExpression(pattern: pattern)) == nil {
                throw failure(
                    "the attribute \(entity.name).\(stated.name) has the pattern \"\(pattern)\", which is no regular expression.",
                    line: stated.line)
            }
            attribute.rules = rules
        }
        attribute.renamingIdentifier = stated.renamingIdentifier
        attribute.versionHashModifier = stated.versionHashModifier
        attribute.userInfo = stated.userInfo
        return attribute
    }

    private func connectParents(_ entities: [String: NSEntityDescription]) throws {
        var children: [String: [NSEntityDescription]] = [:]
        let parents = Dictionary(document.entities.compactMap { entity in entity.parent.map { (entity.name, $0) } }) { first, _ in first }
        for stated in document.entities {
            guard let parent = stated.parent else { continue }
            guard entities[parent] != nil else {
                throw failure("the entity \(stated.name) inherits from \(parent), which does not exist.", line: stated.line)
            }
            var seen: Set<String> = [stated.name]
            var next: String? = parent
            while let name = next {
                guard seen.insert(name).inserted else {
                    throw failure("the entity \(stated.name) inherits from itself, through \(name).", line: stated.line)
                }
                next = parents[name]
            }
            if let entity = entities[stated.name] { children[parent, default: []].append(entity) }
        }
        for (parent, list) in children { entities[parent]?.subentities = list }
    }

    private func addRelationships(_ stated: ModelDocument.Entity, _ entities: [String: NSEntityDescription]) throws {
        guard let entity = entities[stated.name] else { return }
        let relationships = try stated.relationships.map { stated in
            guard let destination = entities[stated.destination] else {
                throw failure(
                    "the relationship \(entity.name ?? "").\(stated.name) leads to \"\(stated.destination)\", an entity that does not exist.",
                    line: stated.line)
            }
            guard let rule = NSDeleteRule(rawValue: stated.deleteRule) else {
                throw failure("the relationship \(entity.name ?? "").\(stated.name) has an unknown delete rule.", line: stated.line)
            }
            let relationship = NSRelationshipDescription()
            relationship.name = stated.name
            relationship.isOptional = stated.isOptional
            relationship.isTransient = stated.isTransient ?? false
            relationship.destinationEntity = destination
            relationship.minCount = stated.minCount
            relationship.maxCount = stated.maxCount
            relationship.deleteRule = rule
            relationship.isOrdered = stated.isOrdered ?? false
            relationship.renamingIdentifier = stated.renamingIdentifier
            relationship.versionHashModifier = stated.versionHashModifier
            relationship.userInfo = stated.userInfo
            return relationship
        }
        entity.properties = entity.statedProperties + relationships
        var names: Set<String> = []
        for property in entity.properties where !names.insert(property.name).inserted {
            throw failure("the entity \(stated.name) has two properties named \(property.name), inherited ones included.", line: stated.line)
        }
    }

    private func connectInverses(_ stated: ModelDocument.Entity, _ entities: [String: NSEntityDescription]) throws {
        for side in stated.relationships {
            guard let name = side.inverse, let mine = entities[stated.name]?.relationshipsByName[side.name] else { continue }
            guard let theirs = mine.destinationEntity?.relationshipsByName[name] else {
                throw failure(
                    "the inverse of \(stated.name).\(side.name) is said to be \(side.destination).\(name), which does not exist.",
                    line: side.line)
            }
            guard let owner = entities[stated.name], let back = theirs.destinationEntity,
                back.isKindOf(entity: owner) || owner.isKindOf(entity: back)
            else {
                throw failure(
                    "\(stated.name).\(side.name) and \(side.destination).\(name) are not inverses: the second leads to "
                        + "\(theirs.destinationEntity?.name ?? "nothing").", line: side.line)
            }
            mine.inverseRelationship = theirs
        }
    }

    private func addIndexes(_ stated: ModelDocument.Entity, _ entities: [String: NSEntityDescription]) throws {
        guard let entity = entities[stated.name] else { return }
        let properties = entity.propertiesByName
        for constraint in stated.uniquenessConstraints ?? [] {
            for name in constraint where !(properties[name] is NSAttributeDescription) {
                throw failure("a uniqueness constraint of \(stated.name) names \(name), which is no attribute of it.", line: stated.line)
            }
        }
        entity.uniquenessConstraints = stated.uniquenessConstraints ?? []
        entity.indexes = try (stated.indexes ?? []).map { try self.index($0, stated, properties) }
    }

    private func index(
        _ index: ModelDocument.Index, _ entity: ModelDocument.Entity, _ properties: [String: NSPropertyDescription]
    ) throws -> NSFetchIndexDescription {
        let path = "the index \(entity.name).\(index.name)"
        let made = NSFetchIndexDescription(name: index.name, elements: try index.elements.map { element in
            let property: NSPropertyDescription
            if let name = element.property {
                guard let known = properties[name] else {
                    throw failure("\(path) names \(name), which does not exist.", line: entity.line)
                }
                property = known
            } else {
                let computed = NSExpressionDescription()
                do {
                    computed.expression = try NSExpression(parsing: element.expression ?? "")
                } catch {
                    throw failure("\(path) has an expression that is none: \(error)", line: entity.line)
                }
                computed.name = element.expression ?? ""
                computed.expressionResultType = element.expressionType.flatMap(NSAttributeType.init) ?? .undefinedAttributeType
                property = computed
            }
            let collation = element.collation.flatMap(NSFetchIndexElementType.init) ?? .binary
            let made = NSFetchIndexElementDescription(property: property, collationType: collation)
            made.isAscending = element.isAscending
            return made
        })
        if let predicate = index.predicate {
            do {
                made.partialIndexPredicate = try NSPredicate(parsing: predicate)
            } catch {
                throw failure("\(path) has a predicate that is none: \(error)", line: entity.line)
            }
        }
        return made
    }
}
