extension Schema {
    /// A relationship of an entity, and what `@Relationship` says of it.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/schema/relationship-swift.class
    public final class Relationship: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        // Unchecked, as in SwiftData: a schema's parts are changed before the schema is made, and only read after that.

        /// What happens to the models at the other end when a model is deleted.
        ///
        /// Source: https://developer.apple.com/documentation/swiftdata/schema/relationship-swift.class/deleterule-swift.enum
        public enum DeleteRule: String, Codable, Sendable {
            case noAction
            case nullify
            case cascade
            case deny
        }

        public struct Option: Codable, Hashable, Sendable, CustomDebugStringConvertible {
            let name: String
            /// No two models have a relationship to the same model.
            public static var unique: Option { Option(name: "unique") }
            public var debugDescription: String { "Schema.Relationship.Option.\(name)" }
        }

        public var name: String
        public var originalName: String
        public var keypath: AnyKeyPath?
        public var options: [Option]
        public var valueType: any Any.Type
        /// The name of the entity at the other end.
        public var destination: String
        public var deleteRule: DeleteRule
        public var inverseName: String?
        public var inverseKeyPath: AnyKeyPath?
        public var minimumModelCount: Int?
        /// 0 for no limit.
        public var maximumModelCount: Int?
        public var hashModifier: String?

        public init(
            _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0, maximumModelCount: Int? = 0,
            originalName: String? = nil, inverse: AnyKeyPath? = nil, hashModifier: String? = nil
        ) {
            name = ""
            self.originalName = originalName ?? ""
            self.options = options
            valueType = Never.self
            destination = ""
            self.deleteRule = deleteRule
            inverseKeyPath = inverse
            self.minimumModelCount = minimumModelCount
            self.maximumModelCount = maximumModelCount
            self.hashModifier = hashModifier
        }

        public var isToOneRelationship: Bool { !(valueType is any RelationshipCollection.Type) }
        public var isUnique: Bool { options.contains(.unique) }
        public var isAttribute: Bool { false }
        public var isRelationship: Bool { true }
        public var isTransient: Bool { false }

        public var debugDescription: String {
            "Schema.Relationship - name: \(name), options: \(options), valueType: \(valueType), destination: \(destination), "
                + "inverseName: \(inverseName ?? "nil"), deleteRule: \(deleteRule)"
        }

        // MARK: Equality and coding

        public static func == (a: Relationship, b: Relationship) -> Bool {
            a === b || a.name == b.name && a.originalName == b.originalName && a.options == b.options && a.valueType == b.valueType
                && a.destination == b.destination && a.deleteRule == b.deleteRule && a.inverseName == b.inverseName
                && a.minimumModelCount == b.minimumModelCount && a.maximumModelCount == b.maximumModelCount && a.hashModifier == b.hashModifier
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, valueType, destination, deleteRule, inverseName, minimumModelCount, maximumModelCount, hashModifier
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            valueType = try container.decode(CodedType.self, forKey: .valueType).type
            destination = try container.decode(String.self, forKey: .destination)
            deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
            inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
            minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
            maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encode(CodedType(valueType), forKey: .valueType)
            try container.encode(destination, forKey: .destination)
            try container.encode(deleteRule, forKey: .deleteRule)
            try container.encodeIfPresent(inverseName, forKey: .inverseName)
            try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
            try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
        }
    }
}
