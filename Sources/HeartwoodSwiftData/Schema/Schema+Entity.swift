extension Schema {
    /// An entity: a model class as a schema has it.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/schema/entity
    public final class Entity: Codable, Hashable, CustomDebugStringConvertible, @unchecked Sendable {
        // Unchecked, as in SwiftData: a schema's parts are changed before the schema is made, and only read after that.

        public var name: String
        public var subentities: Set<Entity> = []
        public var superentityName: String?
        public weak var superentity: Entity? { didSet { superentityName = superentity?.name } }
        /// Those that the entity declares itself.
        public var storedProperties: [any SchemaProperty] = []
        public var inheritedProperties: [any SchemaProperty] = []
        public var uniquenessConstraints: [[String]] = []
        public var indices: [[String]] = []

        public init(_ name: String) { self.name = name }

        public init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
            self.name = name
            self.subentities = Set(subentities)
            storedProperties = properties
            for entity in subentities { entity.superentity = self }
        }

        public init(_ name: String, properties: any SchemaProperty...) {
            self.name = name
            storedProperties = properties
        }

        public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

        public var attributes: Set<Attribute> {
            get { Set(storedProperties.compactMap { $0 as? Attribute }) }
            set { storedProperties = storedProperties.filter { !($0 is Attribute) } + newValue.sorted { $0.name < $1.name } }
        }

        public var relationships: Set<Relationship> {
            get { Set(storedProperties.compactMap { $0 as? Relationship }) }
            set { storedProperties = storedProperties.filter { !($0 is Relationship) } + newValue.sorted { $0.name < $1.name } }
        }

        public var attributesByName: [String: Attribute] { Self.byName(properties.compactMap { $0 as? Attribute }, \.name) }
        public var relationshipsByName: [String: Relationship] { Self.byName(properties.compactMap { $0 as? Relationship }, \.name) }
        public var storedPropertiesByName: [String: any SchemaProperty] { Self.byName(storedProperties, \.name) }
        public var inheritedPropertiesByName: [String: any SchemaProperty] { Self.byName(inheritedProperties, \.name) }

        private static func byName<Part>(_ parts: [Part], _ name: (Part) -> String) -> [String: Part] {
            Dictionary(parts.map { (name($0), $0) }) { $1 }
        }

        public var debugDescription: String { "Schema.Entity - name: \(name)" }

        // MARK: Equality and coding

        public static func == (a: Entity, b: Entity) -> Bool {
            a === b || a.name == b.name && a.superentityName == b.superentityName && a.attributesByName == b.attributesByName
                && a.relationshipsByName == b.relationshipsByName && a.uniquenessConstraints == b.uniquenessConstraints && a.indices == b.indices
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        private enum CodingKeys: String, CodingKey { case name, superentityName, attributes, relationships, uniquenessConstraints, indices }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
            storedProperties = try container.decode([CodedAttribute].self, forKey: .attributes).map(\.attribute)
            storedProperties += try container.decode([Relationship].self, forKey: .relationships) as [any SchemaProperty]
            uniquenessConstraints = try container.decode([[String]].self, forKey: .uniquenessConstraints)
            indices = try container.decode([[String]].self, forKey: .indices)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(superentityName, forKey: .superentityName)
            try container.encode(storedProperties.compactMap { $0 as? Attribute }, forKey: .attributes)
            try container.encode(storedProperties.compactMap { $0 as? Relationship }, forKey: .relationships)
            try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
            try container.encode(indices, forKey: .indices)
        }
    }
}
