/// What code generation needs of a model: names, types and places.
public struct CodeModel: Sendable {
    public struct Entity: Sendable {
        public enum Generation: String, Sendable { case none, category, `class` }

        public let name: String
        /// Without its module.
        public let className: String
        public let parent: String?
        public let generation: Generation
        public internal(set) var attributes: [Attribute] = []
        public internal(set) var relationships: [Relationship] = []
        public internal(set) var fetchedProperties: [String] = []
        public let line: Int
    }

    public struct Attribute: Sendable {
        public let name: String
        /// As the model file spells it; nil for undefined.
        public let type: String?
        public let isScalar: Bool
        public let customClass: String?
        public let line: Int
    }

    public struct Relationship: Sendable {
        public let name: String
        public let destination: String
        public let isToMany: Bool
        public let isOrdered: Bool
        public let line: Int
    }

    /// The file that was read.
    public let path: String
    /// By name.
    public internal(set) var entities: [Entity] = []

    public func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

    /// The entity and those it inherits from.
    public func lineage(of entity: Entity) -> [Entity] {
        var result = [entity]
        while let parent = result.last?.parent.flatMap(self.entity) { result.append(parent) }
        return result
    }
}

/// Why nothing was generated, as "path:line: what".
public struct CodeError: Error, CustomStringConvertible, Sendable {
    public let description: String

    init(_ path: String, _ line: Int? = nil, _ message: String) {
        description = "\(path):\(line.map { "\($0):" } ?? "") \(message)"
    }
}
