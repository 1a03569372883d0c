internal import HeartwoodFileReading

/// Writes a model's classes as Xcode does, with accessors instead of `@NSManaged`.
public struct ClassWriter: Sendable {
    /// A file to write.
    public struct File: Equatable, Sendable {
        public let name: String
        let heading: String
        /// The text behind the heading, which may follow other text in one file.
        let body: String
        public var text: String { heading + body }
    }

    private let model: CodeModel
    private let imported: String
    private let writesAll: Bool

    /// - Parameters:
    ///   - imported: the module to import, CoreData or Heartwood.
    ///   - writesAll: whether to write classes that the model marks as handwritten too.
    public init(_ model: CodeModel, importing imported: String = "CoreData", all writesAll: Bool = false) {
        self.model = model
        self.imported = imported
        self.writesAll = writesAll
    }

    /// Returns the files, by entity name; the same for the same model.
    public func files() -> [File] {
        var done: Set<String> = []
        return model.entities.flatMap { entity -> [File] in
            guard entity.className != "NSManagedObject", writesAll || entity.generation != .none, done.insert(entity.className).inserted
            else { return [] }
            let properties = File(
                name: "\(entity.className)+CoreDataProperties.swift", heading: heading("@_spi(GeneratedCode) import"),
                body: properties(of: entity).joined(separator: "\n") + "\n")
            guard writesAll || entity.generation == .class else { return [properties] }
            let declaration = File(
                name: "\(entity.className)+CoreDataClass.swift", heading: heading("import"),
                body: "public class \(code(entity.className)): \(superclass(of: entity)) {}\n")
            return [declaration, properties]
        }
    }

    private func heading(_ importing: String) -> String {
        "// Made by heartwood generate. Changes are lost when it runs again.\n\nimport Foundation\n\(importing) \(imported)\n\n"
    }

    /// Returns the superclass of an entity's class, as code.
    private func superclass(of entity: CodeModel.Entity) -> String {
        model.lineage(of: entity).dropFirst().first { $0.className != "NSManagedObject" && $0.className != entity.className }
            .map { code($0.className) } ?? "NSManagedObject"
    }

    /// Returns an entity's class, as code.
    private func className(_ entity: String) -> String { code(model.entity(entity)?.className ?? "NSManagedObject") }

    // MARK: Properties

    private struct Property {
        let name: String
        let type: AccessorType
    }

    private func properties(of entity: CodeModel.Entity) -> [String] {
        let attributes = entity.attributes.sorted { $0.name < $1.name }.map { Property(name: $0.name, type: type(of: $0)) }
        let relationships = entity.relationships.sorted { $0.name < $1.name }
        let all = attributes + relationships.map { Property(name: $0.name, type: type(of: $0)) }
        let list = "propertiesOf\(entity.className)"
        var lines: [String] = []
        if !all.isEmpty {
            lines += ["private let \(list) = ManagedProperties("]
            lines += all.enumerated().map { "    \"\($1.name)\"\($0 == all.count - 1 ? ")" : ",")" } + [""]
        }
        lines += ["extension \(code(entity.className)) {"]
        lines += [
            "    public class func fetchRequest() -> NSFetchRequest<\(code(entity.className))> {",
            "        NSFetchRequest<\(code(entity.className))>(entityName: \"\(entity.name)\")",
            "    }",
        ]
        for (position, property) in all.enumerated() {
            let index = "propertyIndex(\(position), of: \(list))"
            lines += [""] + accessor(property, index)
        }
        lines += ["}"]
        for relationship in relationships where relationship.isToMany {
            let position = all.firstIndex { $0.name == relationship.name } ?? 0
            lines += [""] + members(of: relationship, in: entity, "propertyIndex(\(position), of: \(list))")
        }
        if superclass(of: entity) == "NSManagedObject" { lines += ["", "extension \(code(entity.className)): Identifiable {}"] }
        return lines
    }

    private func accessor(_ property: Property, _ index: String) -> [String] {
        var getter = property.type.getter(index) ?? "value(forKey: \"\(property.name)\") as? \(property.type.base)"
        let setter = property.type.setter(index) ?? "setValue(newValue, forKey: \"\(property.name)\")"
        var lines = ["    public var \(code(property.name)): \(property.type.text) {"]
        if getter.contains("requiredValue") || getter.ranges(of: index).count > 1 {
            getter = getter.replacing(index, with: "index")
            lines += ["        get {", "            let index = \(index)", "            return \(getter)", "        }"]
        } else {
            lines += ["        get { \(getter) }"]
        }
        return lines + ["        set { \(setter) }", "    }"]
    }

    private func type(of relationship: CodeModel.Relationship) -> AccessorType {
        let text = !relationship.isToMany ? "\(className(relationship.destination))?" : relationship.isOrdered ? "NSOrderedSet?" : "NSSet?"
        return AccessorType(AccessorType.Storage(relationship), text)
    }

    private func type(of attribute: CodeModel.Attribute) -> AccessorType {
        let type = attribute.type.flatMap(ModelAttributeType.named)
        let text: String
        if let type, type.isScalar, let scalar = type.codeType {
            text = attribute.isScalar ? scalar : "NSNumber?"
        } else {
            let base = type?.codeType ?? attribute.customClass ?? "NSObject"
            text = base.hasSuffix("?") ? base : base + "?"
        }
        return AccessorType(AccessorType.Storage(attribute: attribute.type), text)
    }

    // MARK: Members

    private func members(of relationship: CodeModel.Relationship, in entity: CodeModel.Entity, _ index: String) -> [String] {
        let functions = MemberFunction.all(of: relationship, member: className(relationship.destination), index: index).map {
            ["    public func \($0.signature) {", "        \($0.body)", "    }"]
        }
        return ["// MARK: Generated accessors for \(relationship.name)", "extension \(code(entity.className)) {"]
            + functions.joined(separator: [""]) + ["}"]
    }

    private func code(_ name: String) -> String { SwiftNames.escaped(name) }
}
