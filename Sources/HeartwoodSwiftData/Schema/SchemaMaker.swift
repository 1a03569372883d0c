/// Makes a schema's entities from model classes and all classes that their relationships lead to.
struct SchemaMaker {
    private(set) var types: [ModelType] = []
    private(set) var entities: [Schema.Entity] = []
    private(set) var fault: SwiftDataError?

    init(_ roots: [any PersistentModel.Type]) {
        collect(roots)
        var byName: [String: Schema.Entity] = [:]
        for type in types {
            if byName[type.name] != nil {
                report("Two model classes of the schema are named \(type.name). An entity has its class's name; rename one.")
            }
            byName[type.name] = Schema.Entity(type.name)
        }
        // A class's superclasses stand before it.
        for type in types { if let entity = byName[type.name] { fill(entity, type, byName) } }
        entities = types.compactMap { byName[$0.name] }
    }

    private mutating func collect(_ roots: [any PersistentModel.Type]) {
        var waiting = roots.map(ModelType.of)[...]
        var known: Set<ObjectIdentifier> = []
        while let type = waiting.popFirst() {
            let family = sequence(first: type, next: \.parent).reversed()
            for member in family where known.insert(ObjectIdentifier(member)).inserted {
                types.append(member)
                waiting += member.own.compactMap(\.destination).map(ModelType.of)
            }
        }
    }

    private mutating func report(_ message: String) {
        if fault == nil { fault = SwiftDataError.loadIssueModelContainer.because(message) }
    }

    private mutating func fill(_ entity: Schema.Entity, _ type: ModelType, _ byName: [String: Schema.Entity]) {
        if let parent = type.parent.flatMap({ byName[$0.name] }) {
            entity.superentity = parent
            parent.subentities.insert(entity)
            entity.inheritedProperties = parent.properties
        }
        entity.storedProperties = type.own.compactMap { property(of: $0, type) }
        entity.indices = type.indexes.compactMap { names(of: $0, type, "#Index") }
        let unique = type.own.filter { property in property.declaration?.isUnique == true }.map { [$0.name] }
        entity.uniquenessConstraints = unique + type.constraints.compactMap { names(of: $0, type, "#Unique") }
    }

    private mutating func names(of keyPaths: [AnyKeyPath], _ type: ModelType, _ macro: String) -> [String]? {
        do {
            return try keyPaths.map { try PropertyPath.of($0, root: type).keys.joined(separator: ".") }
        } catch {
            report("\(macro) of \(type.name) names a key path that reads no property: \(error)")
            return nil
        }
    }

    private mutating func property(of property: ModelProperty, _ type: ModelType) -> (any SchemaProperty)? {
        switch property.kind {
        case .attribute(let coding): return attribute(property, coding.form)
        case .toOne(let destination), .toMany(let destination): return relationship(property, type, ModelType.of(destination))
        case .unfit:
            report(
                "\(type.name).\(property.name) has the type \(property.valueType), which is neither Codable nor a model. Make it Codable, or "
                    + "mark the property with @Transient.")
            return nil
        }
    }

    private func attribute(_ property: ModelProperty, _ form: AttributeForm) -> Schema.Attribute {
        let declared = property.declaration as? Schema.Attribute
        let originalName = declared.map(\.originalName).flatMap { $0.isEmpty ? nil : $0 }
        guard case .composite(let elements, _) = form else {
            return Schema.Attribute(
                name: property.name, originalName: originalName, options: declared?.options ?? [], valueType: property.valueType,
                defaultValue: property.defaultValue, hashModifier: declared?.hashModifier)
        }
        let made = Schema.CompositeAttribute(
            name: property.name, originalName: originalName, options: declared?.options ?? [], valueType: property.valueType,
            defaultValue: property.defaultValue, hashModifier: declared?.hashModifier)
        made.properties = Self.parts(elements)
        return made
    }

    private static func parts(_ elements: [AttributeForm.Element]) -> [Schema.Attribute] {
        elements.map { element in
            guard case .composite(let inner, _) = element.form else { return Schema.Attribute(name: element.name, valueType: element.valueType) }
            let made = Schema.CompositeAttribute(name: element.name, valueType: element.valueType)
            made.properties = parts(inner)
            return made
        }
    }

    private mutating func relationship(_ property: ModelProperty, _ type: ModelType, _ destination: ModelType) -> Schema.Relationship {
        let declared = property.declaration as? Schema.Relationship
        let made = Schema.Relationship(
            deleteRule: declared?.deleteRule ?? .nullify, minimumModelCount: declared?.minimumModelCount ?? 0,
            maximumModelCount: declared?.maximumModelCount ?? 0, inverse: declared?.inverseKeyPath, hashModifier: declared?.hashModifier)
        made.options = declared?.options ?? []
        made.name = property.name
        made.originalName = declared.map(\.originalName).flatMap { $0.isEmpty ? nil : $0 } ?? property.name
        made.keypath = property.keyPath
        made.valueType = property.valueType
        made.destination = destination.name
        do {
            made.inverseName = try Inverses.find(property, of: type)?.name
        } catch let ambiguity as Inverses.Ambiguity {
            let candidates = ambiguity.candidates.map(\.name).sorted().joined(separator: ", ")
            report(
                "The inverse of \(type.name).\(property.name) is ambiguous: \(candidates) may be meant. Write @Relationship(inverse:) at one "
                    + "of the two ends of each relationship between \(type.name) and \(destination.name).")
        } catch {
            report("\(error)")
        }
        return made
    }
}
