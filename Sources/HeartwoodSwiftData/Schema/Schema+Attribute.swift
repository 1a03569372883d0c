import Foundation
import Heartwood

extension Schema {
    /// An attribute of an entity, and what `@Attribute` says of it.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/schema/attribute
    public class Attribute: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        // Unchecked, as in SwiftData: a schema's parts are changed before the schema is made, and only read after that.

        /// What `@Attribute` asks of the store.
        ///
        /// Source: https://developer.apple.com/documentation/swiftdata/schema/attribute/option
        public struct Option: Codable, Hashable, Sendable, CustomDebugStringConvertible {
            enum Kind: Codable, Hashable, Sendable {
                case unique, externalStorage, allowsCloudEncryption, preserveValueOnDeletion, ephemeral, spotlight, codable, textIndex
                case transformable(String)
            }

            let kind: Kind

            /// No two models of the entity have the same value; saving a second one changes the first.
            public static var unique: Option { Option(kind: .unique) }
            /// Large data is kept beside the rows.
            public static var externalStorage: Option { Option(kind: .externalStorage) }
            /// Accepted for the sake of sources; there is no CloudKit here.
            public static var allowsCloudEncryption: Option { Option(kind: .allowsCloudEncryption) }
            /// The history of a deletion has the value.
            public static var preserveValueOnDeletion: Option { Option(kind: .preserveValueOnDeletion) }
            /// The store does not keep the value.
            public static var ephemeral: Option { Option(kind: .ephemeral) }
            /// Accepted for the sake of sources; there is no Spotlight here.
            public static var spotlight: Option { Option(kind: .spotlight) }
            /// The value is kept as its encoded form, and not taken apart.
            public static var codable: Option { Option(kind: .codable) }

            /// Parts of the text, and its words, are found by an index; see `FetchDescriptor.textSearch`. An addition of Heartwood.
            public static var textIndex: Option { Option(kind: .textIndex) }

            public static func transformable(by transformerType: ValueTransformer.Type) -> Option {
                Option(kind: .transformable(NSStringFromClass(transformerType)))
            }

            /// - Parameter transformerName: the name with which the transformer is registered.
            public static func transformable(by transformerName: String) -> Option { Option(kind: .transformable(transformerName)) }

            public var debugDescription: String { "Schema.Attribute.Option.\(kind)" }
        }

        public var name: String
        public var originalName: String
        public var options: [Option]
        public var valueType: any Any.Type
        public var defaultValue: Any?
        public var isOptional: Bool
        public var hashModifier: String?

        public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
            name = ""
            self.originalName = originalName ?? ""
            self.options = options
            valueType = Never.self
            isOptional = false
            self.hashModifier = hashModifier
        }

        public init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type, defaultValue: Any? = nil,
            hashModifier: String? = nil
        ) {
            self.name = name
            self.originalName = originalName ?? name
            self.options = options
            self.valueType = valueType
            self.defaultValue = defaultValue
            isOptional = valueType is any OptionalValue.Type
            self.hashModifier = hashModifier
        }

        public var isAttribute: Bool { true }
        public var isRelationship: Bool { false }
        public var isTransient: Bool { options.contains(.ephemeral) }
        public var isUnique: Bool { options.contains(.unique) }
        public var isTransformable: Bool { transformerName != nil }
        public var isCodable: Bool { options.contains(.codable) }

        var transformerName: String? {
            for option in options { if case .transformable(let name) = option.kind { return name } }
            return nil
        }

        public var debugDescription: String { "Schema.Attribute - name: \(name), options: \(options), valueType: \(valueType)" }

        // MARK: Equality and coding

        public static func == (a: Attribute, b: Attribute) -> Bool {
            a === b || a.name == b.name && a.originalName == b.originalName && a.options == b.options && a.valueType == b.valueType
                && a.isOptional == b.isOptional && a.hashModifier == b.hashModifier
                && (a as? CompositeAttribute)?.properties == (b as? CompositeAttribute)?.properties
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        private enum CodingKeys: String, CodingKey { case name, originalName, options, valueType, isOptional, hashModifier }

        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            valueType = try container.decode(CodedType.self, forKey: .valueType).type
            isOptional = try container.decode(Bool.self, forKey: .isOptional)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encode(CodedType(valueType), forKey: .valueType)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
        }
    }

    /// An attribute made of the stored properties of a Codable structure.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/schema/compositeattribute
    public final class CompositeAttribute: Attribute, @unchecked Sendable {
        // Unchecked, as its superclass.
        public var properties: [Attribute] = []

        public override init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type, defaultValue: Any? = nil,
            hashModifier: String? = nil
        ) {
            super.init(
                name: name, originalName: originalName, options: options, valueType: valueType, defaultValue: defaultValue,
                hashModifier: hashModifier)
        }

        public static func == (a: CompositeAttribute, b: CompositeAttribute) -> Bool { a as Attribute == b as Attribute }

        private enum CodingKeys: String, CodingKey { case properties }

        public required init(from decoder: any Decoder) throws {
            properties = try decoder.container(keyedBy: CodingKeys.self).decode([CodedAttribute].self, forKey: .properties).map(\.attribute)
            try super.init(from: decoder)
        }

        public override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(properties, forKey: .properties)
        }

        /// Whether what is decoded is an attribute with parts.
        fileprivate static func isCoded(by decoder: any Decoder) throws -> Bool {
            try decoder.container(keyedBy: CodingKeys.self).contains(.properties)
        }
    }
}

/// An attribute of a coded schema, which has parts where it says so.
struct CodedAttribute: Decodable {
    let attribute: Schema.Attribute

    init(from decoder: any Decoder) throws {
        attribute = try Schema.CompositeAttribute.isCoded(by: decoder)
            ? Schema.CompositeAttribute(from: decoder) : Schema.Attribute(from: decoder)
    }
}
