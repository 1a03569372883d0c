import Foundation
import Heartwood
import HeartwoodModelCode

/// Makes `@Model` classes of a model's entities.
///
/// An entity of SwiftData has its class's name, so each class has its entity's. What a class cannot say becomes a comment, and a remark for the
/// person who runs the command.
struct ModelClassReader {
    struct File {
        let name: String
        let text: String
    }

    private let entities: [NSEntityDescription]
    private let model: NSManagedObjectModel
    private let path: String
    private let names: SwiftTypeNames
    private(set) var remarks: [String] = []

    /// - Parameter path: the model's, for errors.
    /// - Throws: `CodeError` for a name that code cannot have.
    init(_ model: NSManagedObjectModel, path: String) throws {
        self.model = model
        self.path = path
        entities = model.entities.sorted { $0.title < $1.title }
        names = SwiftTypeNames(taken: Set(entities.map(\.title)))
        for entity in entities { try checkName(entity.title, "entity") }
    }

    private func checkName(_ name: String, _ element: String) throws {
        guard !SwiftNames.isIdentifier(name) else { return }
        throw CodeError(description: "\(path): \(element): the name \"\(SwiftNames.shown(name))\" is no Swift identifier; rename it in the model.")
    }

    private func checkElements(_ composite: NSCompositeAttributeDescription) throws {
        for element in composite.elements {
            try checkName(element.name, "element of \(composite.name)")
            if let inner = element as? NSCompositeAttributeDescription { try checkElements(inner) }
        }
    }

    /// A file for each entity, by name.
    mutating func files() throws -> [File] {
        var classes: [String: ModelClass] = [:]
        for entity in entities { classes[entity.title] = try modelClass(entity) }
        return entities.compactMap { entity in
            guard let made = classes[entity.title] else { return nil }
            let above = sequence(first: entity.superentity) { $0?.superentity }.prefix { $0 != nil }.compactMap { $0.flatMap { classes[$0.title] } }
            let inherited = above.reversed().flatMap { $0.properties.filter(\.isParameter) }
            return File(name: "\(entity.title).swift", text: made.text(inherited: inherited))
        }
    }

    private mutating func note(_ subject: String, _ unsaid: [String]) { remarks += unsaid.map { "\(subject): SwiftData cannot say: \($0)" } }

    // MARK: Entities

    private mutating func modelClass(_ entity: NSEntityDescription) throws -> ModelClass {
        var made = ModelClass(name: entity.title, parent: entity.superentity?.title, isFinal: entity.subentities.isEmpty)
        let unique = entity.constraintNames
        (made.macros, made.unsaid) = macros(entity, unique)
        made.unsaid = unsaid(entity) + made.unsaid
        for property in entity.ownProperties where !property.name.contains(".") {
            try checkName(property.name, "property")
            if let composite = property as? NSCompositeAttributeDescription { try checkElements(composite) }
            let subject = "\(entity.title).\(property.name)"
            var stored: ModelClassProperty?
            switch property {
            case let attribute as NSAttributeDescription:
                let reader = ModelAttributeReader(
                    attribute, structure: structureName(entity, attribute), isUnique: unique.contains { Self.isConstraint($0, of: attribute) }, names)
                stored = reader.property
                made.structures += reader.structures
                if stored == nil { made.unsaid.append(reader.absence) }
            case let relationship as NSRelationshipDescription:
                stored = ModelRelationshipReader(
                    relationship, isUnique: unique.contains([relationship.name]), isCircular: isCircular(relationship)).property
            default: made.unsaid.append(Self.fetched(property))
            }
            if let stored { made.properties.append(stored) }
            note(subject, stored?.unsaid ?? [])
        }
        note(entity.title, made.unsaid)
        return made
    }

    /// The name of the structure of a composite: no entity's.
    private func structureName(_ entity: NSEntityDescription, _ attribute: NSAttributeDescription) -> String {
        let name = entity.title + attribute.name.capitalizedFirst
        return model.entitiesByName[name] == nil ? name : name + "Value"
    }

    private static func fetched(_ property: NSPropertyDescription) -> String {
        let request = (property as? NSFetchedPropertyDescription)?.fetchRequest
        return "the fetched property \(property.name)"
            + (request?.entityName.map { " of \($0)" } ?? "") + (request?.predicate.map { " where \(SwiftNames.shown($0.predicateFormat))" } ?? "")
    }

    private func unsaid(_ entity: NSEntityDescription) -> [String] {
        var found: [String] = []
        if entity.isAbstract { found.append("the entity is abstract; a store that is opened keeps that, and takes no new model of it") }
        let className = entity.managedObjectClassName ?? ""
        if !["", "NSManagedObject", entity.title].contains(className), className.split(separator: ".").last.map(String.init) != entity.title {
            found.append("the entity's class is \(SwiftNames.shown(className)); an entity has its class's name")
        }
        if let old = entity.declaredRenamingIdentifier, old != entity.title { found.append("the entity was named \(SwiftNames.shown(old))") }
        if let modifier = entity.versionHashModifier { found.append("the entity's version hash modifier \(SwiftNames.shown(modifier))") }
        if let info = entity.userInfo, !info.isEmpty { found.append("the user info of the entity, \(Output.count(info.count, "entry", "entries"))") }
        for name in model.configurations where name != NSManagedObjectModel.defaultConfigurationName {
            let members = model.entities(forConfigurationName: name) ?? []
            // One of all entities says no more than the schema. SwiftData writes such a one into its files.
            guard members.count < entities.count, members.contains(where: { $0.name == entity.name }) else { continue }
            found.append("the entity is in the configuration \(SwiftNames.shown(name)); list its class in a ModelConfiguration of this name")
        }
        for name in model.fetchRequestTemplatesByName.keys.sorted() {
            guard let request = model.fetchRequestTemplate(forName: name), request.entityName == entity.name else { continue }
            let condition = request.predicate.map { " where \(SwiftNames.shown($0.predicateFormat))" } ?? ""
            found.append("the fetch request \(SwiftNames.shown(name))\(condition)")
        }
        return found
    }

    // MARK: Constraints and indexes

    /// Whether a constraint is that one attribute's values are unique.
    private static func isConstraint(_ names: [String], of attribute: NSAttributeDescription) -> Bool {
        guard names.count == 1 else { return false }
        guard let composite = attribute as? NSCompositeAttributeDescription, composite.elements.count == 1 else { return names[0] == attribute.name }
        return names[0] == "\(composite.name).\(composite.elements[0].name)"
    }

    private func macros(_ entity: NSEntityDescription, _ unique: [[String]]) -> (code: [String], unsaid: [String]) {
        let own = entity.ownProperties
        let several = unique.filter { names in
            !own.contains { property in
                (property as? NSAttributeDescription).map { Self.isConstraint(names, of: $0) } ?? (names == [property.name])
            }
        }
        var unsaid: [String] = [], indexes: [[String]] = []
        for index in entity.indexes {
            let names = index.elements.compactMap(\.propertyName).filter { entity.propertiesByName[$0] != nil || $0.contains(".") }
            let isPlain = names.count == index.elements.count && !names.isEmpty && index.partialIndexPredicate == nil
                && index.elements.allSatisfy { $0.collationType == .binary && $0.isAscending }
            if isPlain { indexes.append(names) } else { unsaid.append("the index \(SwiftNames.shown(index.name))\(Self.details(index))") }
        }
        let code = SwiftNames.escaped(entity.title)
        func list(_ macro: String, _ groups: [[String]]) -> [String] {
            guard !groups.isEmpty else { return [] }
            let paths = groups.map { group in "[" + group.map { Self.keyPath($0, in: entity) }.joined(separator: ", ") + "]" }
            return ["\(macro)<\(code)>(\(paths.joined(separator: ", ")))"]
        }
        return (list("#Unique", several) + list("#Index", indexes), unsaid)
    }

    private static func details(_ index: NSFetchIndexDescription) -> String {
        let parts = index.elements.map { element -> String in
            let order = element.isAscending ? "" : " descending"
            let kind = element.collationType == .rTree ? " in an R-tree" : element.collationType == .text ? " for words" : ""
            return SwiftNames.shown(element.propertyName ?? "an expression") + order + kind
        }
        return " over \(parts.joined(separator: ", "))"
            + (index.partialIndexPredicate.map { " where \(SwiftNames.shown($0.predicateFormat))" } ?? "")
    }

    /// A key path of a property, or of a part of a composite.
    private static func keyPath(_ name: String, in entity: NSEntityDescription) -> String {
        var parts = name.split(separator: ".").map(String.init)
        if parts.count > 1, let composite = entity.attributesByName[parts[0]] as? NSCompositeAttributeDescription,
            composite.elements.count == 1, composite.elements[0].name == composite.name {
            parts = [parts[0]]
        }
        let isOptional = parts.count > 1 && entity.attributesByName[parts[0]]?.isOptional == true
        return "\\." + parts.enumerated().map { SwiftNames.escaped($1) + ($0 == 0 && isOptional ? "?" : "") }.joined(separator: ".")
    }

    // MARK: Circles

    /// Whether a required to-one relationship leads back to its entity over others of its kind: no first model could be made.
    private func isCircular(_ relationship: NSRelationshipDescription) -> Bool {
        guard let owner = relationship.holder, Self.isRequired(relationship) else { return false }
        var seen: Set<String> = [], waiting = [relationship.destinationEntity].compactMap(\.self)
        while let next = waiting.popLast() {
            if next.isKindOf(entity: owner) || owner.isKindOf(entity: next) { return true }
            guard seen.insert(next.title).inserted else { continue }
            waiting += next.relationshipsByName.values.filter(Self.isRequired).compactMap(\.destinationEntity)
        }
        return false
    }

    private static func isRequired(_ relationship: NSRelationshipDescription) -> Bool { !relationship.isToMany && !relationship.isOptional }
}
