import Foundation

/// Builds a model from its document, and refuses a document that contradicts itself.
struct ModelBuilder {
    /// The deepest inheritance. Reading inherited properties recurses for each ancestor, so an unlimited file could exhaust the stack.
    private static let depthMax = 200

    let document: ModelDocument
    /// Strange statements that were accepted.
    let warnings = ModelWarnings()

    init(_ document: ModelDocument) {
        self.document = document
    }

    func failure(_ message: String, line: Int?) -> NSError {
        let location = document.source.map { source in line.map { "\(source):\($0): " } ?? "\(source): " } ?? ""
        return CoreDataError.make(NSPersistentStoreIncompatibleSchemaError, location + message)
    }

    /// - Parameter model: the model to fill; nil for a new one.
    func build(into model: NSManagedObjectModel?) throws -> NSManagedObjectModel {
        guard document.version == ModelDocument.currentVersion else {
            throw failure("the model was written by a newer version (\(document.version)); use a newer Heartwood.", line: nil)
        }
        let entities = try makeEntities()
        try connectParents(entities)
        // Ancestors come first, so that a second property with an inherited name is noticed.
        for declared in ancestorsFirst() { try addRelationships(declared, entities) }
        let inverses = declaredInverses(entities), relationships = entities.mapValues(\.relationshipsByName)
        for declared in document.entities { try connectInverses(declared, entities, relationships, inverses) }
        for declared in document.entities { try checkDerivations(declared, entities) }
        for declared in document.entities { try addIndexes(declared, entities) }
        let result = model ?? NSManagedObjectModel()
        result.entities = document.entities.compactMap { entities[$0.name] }
        try addFetchRequests(to: result, entities)
        for (name, members) in document.configurations ?? [:] {
            for member in members where entities[member] == nil {
                throw failure("the configuration \(name) names the entity \(member), which does not exist.", line: nil)
            }
            result.setEntityNames(members, forConfigurationName: name)
        }
        result.versionIdentifiers = Set((document.versionIdentifiers ?? []).map { AnyHashable($0) })
        result.warnings = warnings.list
        return result
    }

    private func makeEntities() throws -> [String: NSEntityDescription] {
        var entities: [String: NSEntityDescription] = [:]
        for declared in document.entities {
            guard !declared.name.isEmpty else { throw failure("an entity has no name.", line: declared.line) }
            guard entities[declared.name] == nil else {
                throw failure("there are two entities named \(declared.name); rename one.", line: declared.line)
            }
            let entity = NSEntityDescription()
            entity.name = declared.name
            entity.managedObjectClassName = declared.className ?? "NSManagedObject"
            entity.isAbstract = declared.isAbstract ?? false
            entity.declaredRenamingIdentifier = declared.renamingIdentifier
            entity.versionHashModifier = declared.versionHashModifier
            entity.userInfo = declared.userInfo
            entity.properties = try attributes(of: declared)
            entities[declared.name] = entity
        }
        return entities
    }

    private func connectParents(_ entities: [String: NSEntityDescription]) throws {
        var children: [String: [NSEntityDescription]] = [:]
        let parents = Dictionary(document.entities.compactMap { entity in entity.parent.map { (entity.name, $0) } }) { first, _ in first }
        for declared in document.entities {
            guard let parent = declared.parent else { continue }
            guard entities[parent] != nil else {
                throw failure("the entity \(declared.name) inherits from \(parent), which does not exist.", line: declared.line)
            }
            var seen: Set<String> = [declared.name]
            var next: String? = parent
            while let name = next {
                guard seen.insert(name).inserted else {
                    throw failure("the entity \(declared.name) inherits from itself, through \(name).", line: declared.line)
                }
                guard seen.count <= Self.depthMax else {
                    throw failure("the entity \(declared.name) inherits through more than \(Self.depthMax) entities.", line: declared.line)
                }
                next = parents[name]
            }
            if let entity = entities[declared.name] { children[parent, default: []].append(entity) }
        }
        for (parent, list) in children { entities[parent]?.subentities = list }
    }

    private func ancestorsFirst() -> [ModelDocument.Entity] {
        let parents = Dictionary(document.entities.compactMap { entity in entity.parent.map { (entity.name, $0) } }) { first, _ in first }
        func depth(_ name: String) -> Int {
            var depth = 0
            var next = parents[name]
            while let parent = next {
                depth += 1
                next = parents[parent]
            }
            return depth
        }
        guard !parents.isEmpty else { return document.entities }
        return document.entities.map { (depth($0.name), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func addRelationships(_ declared: ModelDocument.Entity, _ entities: [String: NSEntityDescription]) throws {
        guard let entity = entities[declared.name] else { return }
        let relationships = try declared.relationships.map { declared in
            guard let destination = entities[declared.destination] else {
                throw failure(
                    "the relationship \(entity.name ?? "").\(declared.name) leads to \"\(declared.destination)\", an entity that does not exist.",
                    line: declared.line)
            }
            guard let rule = NSDeleteRule(rawValue: declared.deleteRule) else {
                throw failure("the relationship \(entity.name ?? "").\(declared.name) has an unknown delete rule.", line: declared.line)
            }
            guard declared.maxCount == 0 || declared.minCount <= declared.maxCount else {
                throw failure(
                    "the relationship \(entity.name ?? "").\(declared.name) has at least \(declared.minCount) members and at most "
                        + "\(declared.maxCount).", line: declared.line)
            }
            let relationship = NSRelationshipDescription()
            relationship.name = declared.name
            relationship.isOptional = declared.isOptional
            relationship.isTransient = declared.isTransient ?? false
            relationship.destinationEntity = destination
            relationship.minCount = declared.minCount
            relationship.maxCount = declared.maxCount
            relationship.deleteRule = rule
            relationship.isOrdered = declared.isOrdered ?? false
            relationship.declaredRenamingIdentifier = declared.renamingIdentifier
            relationship.versionHashModifier = declared.versionHashModifier
            relationship.userInfo = declared.userInfo
            return relationship
        }
        entity.properties = entity.declaredProperties + relationships + (try fetchedProperties(of: declared, entities))
        var names: Set<String> = []
        for property in entity.properties where !names.insert(property.name).inserted {
            throw failure(
                "the entity \(declared.name) has two properties named \(property.name), inherited ones included.",
                line: declared.line(ofLast: property.name) ?? declared.line)
        }
    }

    /// The name of the inverse that the document states for each relationship.
    private func declaredInverses(_ entities: [String: NSEntityDescription]) -> [ObjectIdentifier: String] {
        var result: [ObjectIdentifier: String] = [:]
        for declared in document.entities {
            let made = Dictionary(entities[declared.name]?.declaredProperties.map { ($0.name, $0) } ?? []) { first, _ in first }
            for side in declared.relationships {
                if let inverse = side.inverse, let relationship = made[side.name] { result[ObjectIdentifier(relationship)] = inverse }
            }
        }
        return result
    }

    private func connectInverses(
        _ declared: ModelDocument.Entity, _ entities: [String: NSEntityDescription],
        _ relationships: [String: [String: NSRelationshipDescription]], _ declaredInverse: [ObjectIdentifier: String]
    ) throws {
        for side in declared.relationships {
            guard let name = side.inverse, let mine = relationships[declared.name]?[side.name] else { continue }
            guard let theirs = relationships[side.destination]?[name] else {
                throw failure(
                    "the inverse of \(declared.name).\(side.name) is said to be \(side.destination).\(name), which does not exist.",
                    line: side.line)
            }
            guard let owner = entities[declared.name], let back = theirs.destinationEntity,
                back.isKindOf(entity: owner) || owner.isKindOf(entity: back)
            else {
                throw failure(
                    "\(declared.name).\(side.name) and \(side.destination).\(name) are not inverses: the second leads to "
                        + "\(theirs.destinationEntity?.name ?? "nothing").", line: side.line)
            }
            if let back = declaredInverse[ObjectIdentifier(theirs)], back != side.name {
                // Xcode has written such models, and compiles them.
                warnings.add(
                    "\(declared.name).\(side.name)",
                    "is said to be the inverse of \(side.destination).\(name), whose inverse is \(back): it has none here")
                continue
            }
            mine.inverseRelationship = theirs
        }
    }

    private func addIndexes(_ declared: ModelDocument.Entity, _ entities: [String: NSEntityDescription]) throws {
        guard let entity = entities[declared.name] else { return }
        let properties = entity.propertiesByName
        for constraint in declared.uniquenessConstraints ?? [] {
            for name in constraint where !canBeUnique(name, among: properties) {
                throw failure(
                    "a uniqueness constraint of \(declared.name) names \(name), which is neither an attribute nor a to-one relationship of it.",
                    line: declared.line)
            }
        }
        entity.uniquenessConstraints = declared.uniquenessConstraints ?? []
        entity.indexes = try (declared.indexes ?? []).map { try self.index($0, declared, properties) }
    }

    private func canBeUnique(_ path: String, among properties: [String: NSPropertyDescription]) -> Bool {
        if let relationship = properties[path] as? NSRelationshipDescription { return !relationship.isToMany && !relationship.isTransient }
        return attribute(path, among: properties) != nil
    }

    /// The attribute with a name, or the element of a composite with a path.
    private func attribute(_ path: String, among properties: [String: NSPropertyDescription]) -> NSAttributeDescription? {
        if let attribute = properties[path] as? NSAttributeDescription { return attribute }
        let keys = path.split(separator: ".").map(String.init)
        return keys.dropFirst().reduce(properties[keys.first ?? ""] as? NSAttributeDescription) { outer, key in
            (outer as? NSCompositeAttributeDescription)?.elements.first { $0.name == key }
        }
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
                    throw failure("\(path) has an invalid expression: \(error)", line: entity.line)
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
                throw failure("\(path) has an invalid predicate: \(error)", line: entity.line)
            }
        }
        return made
    }
}

extension ModelDocument.Entity {
    /// The line of the last property that has this name.
    fileprivate func line(ofLast name: String) -> Int? {
        let lines = attributes.filter { $0.name == name }.map(\.line) + relationships.filter { $0.name == name }.map(\.line)
            + (fetchedProperties ?? []).filter { $0.name == name }.map(\.line)
        return lines.compactMap(\.self).max()
    }
}
