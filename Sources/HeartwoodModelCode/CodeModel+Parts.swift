/// For a model that another reader has read: the stack's, which knows the models of stores.
extension CodeModel {
    /// One property, as a reader of models states it.
    package enum Property: Sendable {
        /// - Parameter type: as model files spell it; nil for undefined.
        case attribute(name: String, type: String?, customClass: String?)
        case relationship(name: String, destination: String, isToMany: Bool, isOrdered: Bool)
        case fetched(name: String)
    }

    /// An entity whose class is to be generated. Numbers are scalars.
    package struct Declaration: Sendable {
        let name: String
        let className: String
        let parent: String?
        let properties: [Property]

        /// - Parameter className: the class name, with or without a module; nil for a class that is named like the entity.
        package init(name: String, className: String?, parent: String?, properties: [Property]) {
            self.name = name
            self.className = className?.split(separator: ".").last.map(String.init) ?? name
            self.parent = parent
            self.properties = properties
        }
    }

    /// - Parameter path: the store's, for errors.
    /// - Throws: `CodeError` for a name that code cannot have.
    package init(path: String, _ declarations: [Declaration]) throws {
        self.init(path: path)
        entities = try declarations.map { try Self.entity($0, path) }
        self = try checked()
    }

    private static func entity(_ declared: Declaration, _ path: String) throws -> Entity {
        func identifier(_ text: String, _ element: String) throws -> String {
            guard SwiftNames.isIdentifier(text) else {
                let shown = SwiftNames.shown(text)
                throw CodeError(path, nil, "\(element): the name \"\(shown)\" is no Swift identifier; generate the code from the model's file.")
            }
            return text
        }
        var entity = Entity(
            name: try identifier(declared.name, "entity"), className: try identifier(declared.className, "class"), parent: declared.parent,
            generation: .class, line: nil)
        for property in declared.properties {
            switch property {
            case .attribute(let name, let type, let customClass):
                entity.attributes.append(Attribute(
                    name: try identifier(name, "attribute"), type: type, isScalar: true, customClass: customClass.flatMap(SwiftNames.type),
                    line: nil))
            case .relationship(let name, let destination, let isToMany, let isOrdered):
                entity.relationships.append(Relationship(
                    name: try identifier(name, "relationship"), destination: destination, isToMany: isToMany, isOrdered: isOrdered, line: nil))
            case .fetched(let name): entity.fetchedProperties.append(try identifier(name, "fetched property"))
            }
        }
        return entity
    }
}
