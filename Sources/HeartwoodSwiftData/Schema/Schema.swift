import Foundation

/// The entities of a store, as the model classes declare them.
///
/// Source: https://developer.apple.com/documentation/swiftdata/schema
public final class Schema: Codable, Hashable, Sendable, CustomDebugStringConvertible {
    public static let schemaEncodingVersion = Version(1, 0, 0)

    public let encodingVersion: Version
    public let version: Version
    public let entities: [Entity]
    public let entitiesByName: [String: Entity]
    /// The classes of the entities, where the schema was made of classes.
    let types: [ModelType]
    /// What makes the schema impossible, such as an ambiguous inverse. A container refuses it with this error.
    let fault: SwiftDataError?

    private init(_ entities: [Entity], _ version: Version, types: [ModelType], fault: SwiftDataError? = nil) {
        encodingVersion = Self.schemaEncodingVersion
        self.version = version
        self.entities = entities
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        self.types = types
        self.fault = fault
    }

    public convenience init() { self.init([], Version(1, 0, 0), types: []) }

    public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) { self.init(entities, version, types: []) }

    /// The entities of the classes and of all classes that their relationships lead to. Subclasses are listed.
    public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) { self.init(types, version: version) }

    public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
        let made = SchemaMaker(types)
        self.init(made.entities, version, types: made.types, fault: made.fault)
    }

    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }

    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? { entitiesByName[Self.entityName(for: type)] }

    /// The class's own name.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String { entityName(of: type) }

    static func entityName(of type: any PersistentModel.Type) -> String { String(describing: type) }

    // MARK: Files and coding

    /// Writes the schema as JSON.
    /// - Throws: the error of encoding or writing.
    public func save(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: url, options: .atomic)
    }

    /// - Throws: the error of reading, or `DecodingError` for a file that is no schema or names types that the program lacks.
    public static func load(from url: URL) throws -> Schema { try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url)) }

    private enum CodingKeys: String, CodingKey { case encodingVersion, version, entities }

    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let entities = try container.decode([Entity].self, forKey: .entities)
        for entity in entities {
            guard let name = entity.superentityName, let above = entities.first(where: { $0.name == name }) else { continue }
            entity.superentity = above
            above.subentities.insert(entity)
        }
        for entity in entities {
            var above = entity.superentity
            while let known = above, known !== entity {
                entity.inheritedProperties = known.storedProperties + entity.inheritedProperties
                above = known.superentity
            }
        }
        self.init(entities, try container.decode(Version.self, forKey: .version), types: [])
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(encodingVersion, forKey: .encodingVersion)
        try container.encode(version, forKey: .version)
        try container.encode(entities, forKey: .entities)
    }

    public static func == (a: Schema, b: Schema) -> Bool {
        a === b || a.version == b.version && Set(a.entities) == Set(b.entities)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(Set(entities.map(\.name)))
    }

    public var debugDescription: String { "Schema - version: \(version), entities: \(entities.map(\.name).sorted())" }
}

extension Schema {
    /// A version of a schema, in three parts.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/schema/version-swift.struct
    public struct Version: Codable, Comparable, CustomStringConvertible, Hashable, Sendable {
        public let major: Int
        public let minor: Int
        public let patch: Int

        public init(_ major: Int, _ minor: Int, _ patch: Int) { (self.major, self.minor, self.patch) = (major, minor, patch) }

        public var description: String { "\(major).\(minor).\(patch)" }

        public static func < (a: Version, b: Version) -> Bool { (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch) }
    }

    /// What `@Model` tells of one property, index or constraint.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/schema/propertymetadata
    public struct PropertyMetadata {
        let name: String
        let keypath: AnyKeyPath
        let defaultValue: Any?
        let metadata: (any SchemaProperty)?

        public init(name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil) {
            (self.name, self.keypath, self.defaultValue, self.metadata) = (name, keypath, defaultValue, metadata)
        }
    }
}
