internal import HeartwoodFileReading

/// Reads a compiled model, a `.mom`, for code generation.
///
/// Such a model does not state which code Xcode generates. All classes that it names are generated here, and numbers are scalars.
enum ArchivedCodeModel {
    /// - Parameter bytes: a keyed archive.
    /// - Throws: `CodeError` with the path.
    static func read(_ bytes: [UInt8], path: String) throws -> CodeModel {
        // The archive's errors name the path.
        let archived = try ArchivedModel(try KeyedArchive(bytes, path: path) { CodeError(description: $0) })
        var model = CodeModel(path: path)
        model.entities = try archived.entities.map { try entity($0, path) }
        return try model.checked()
    }

    private static func entity(_ archived: ArchivedModel.Entity, _ path: String) throws -> CodeModel.Entity {
        let noClass = "NSManagedObject"
        let stated = try archived.object.entityClassName() ?? noClass
        let className = stated.split(separator: ".").last.map(String.init) ?? archived.name
        var entity = CodeModel.Entity(
            name: try identifier(archived.name, "entity", path), className: try identifier(className, "class", path), parent: archived.parent,
            generation: className == noClass ? .none : .class, line: nil)
        for property in archived.properties {
            let name = try identifier(property.name, "property", path)
            switch property.kind {
            case .attribute, .derivedAttribute, .compositeAttribute: entity.attributes.append(try attribute(property.object, name))
            case .relationship:
                entity.relationships.append(CodeModel.Relationship(
                    name: name, destination: try property.object.destinationName() ?? "", isToMany: try property.object.maxCount() != 1,
                    isOrdered: try property.object.has(.isOrdered), line: nil))
            case .fetchedProperty: entity.fetchedProperties.append(name)
            }
        }
        return entity
    }

    /// Returns the raw value of the `NSAttributeType` that a model file spells; nil for a text that is no type.
    static func rawType(_ spelled: String?) -> UInt? {
        guard let spelled else { return 0 }
        return ModelAttributeType.named(spelled)?.number
    }

    private static func attribute(_ object: KeyedArchive.Object, _ name: String) throws -> CodeModel.Attribute {
        let type = try object.integer("NSAttributeType").flatMap(ModelAttributeType.numbered).flatMap { $0.number == 0 ? nil : $0.name }
        // The reader leaves out a class whose name is no Swift type. An archive's names cannot be edited.
        let customClass = try type == "Transformable" ? object.text("NSAttributeValueClassName").flatMap(SwiftNames.type) : nil
        return CodeModel.Attribute(name: name, type: type, isScalar: true, customClass: customClass, line: nil)
    }

    private static func identifier(_ text: String, _ element: String, _ path: String) throws -> String {
        guard SwiftNames.isIdentifier(text) else {
            throw CodeError(path, nil, "\(element): the name \"\(SwiftNames.shown(text))\" is no Swift identifier; rename it.")
        }
        return text
    }
}
