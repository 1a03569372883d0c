/// The part of a model that code generation needs: names, types and source lines.
public struct CodeModel: Sendable {
    public struct Entity: Sendable {
        public enum Generation: String, Sendable { case none, category, `class` }

        public let name: String
        /// The class name without its module.
        public let className: String
        public let parent: String?
        public let generation: Generation
        public internal(set) var attributes: [Attribute] = []
        public internal(set) var relationships: [Relationship] = []
        public internal(set) var fetchedProperties: [String] = []
        /// nil if the model's file is no text.
        public let line: Int?
    }

    public struct Attribute: Sendable {
        public let name: String
        /// The type as the model file spells it; nil for undefined.
        public let type: String?
        public let isScalar: Bool
        public let customClass: String?
        /// nil if the model's file is no text.
        public let line: Int?
    }

    public struct Relationship: Sendable {
        public let name: String
        public let destination: String
        public let isToMany: Bool
        public let isOrdered: Bool
        /// nil if the model's file is no text.
        public let line: Int?
    }

    /// The file that was read.
    public let path: String
    /// Sorted by name.
    public internal(set) var entities: [Entity] = []

    public func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

    /// Returns the entity and its superentities, from the entity up.
    public func lineage(of entity: Entity) -> [Entity] {
        var result = [entity]
        while let parent = result.last?.parent.flatMap(self.entity) { result.append(parent) }
        return result
    }
}

/// The reason why nothing was generated, as "path:line: message".
public struct CodeError: Error, CustomStringConvertible, Sendable {
    public let description: String

    /// - Parameter description: it names the path.
    package init(description: String) { self.description = description }

    init(_ path: String, _ line: Int? = nil, _ message: String) {
        description = "\(path):\(line.map { "\($0):" } ?? "") \(message)"
    }
}
