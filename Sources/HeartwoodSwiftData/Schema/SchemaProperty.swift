import Heartwood

/// A part of an entity: an attribute, a relationship, an index or a constraint.
///
/// Source: https://developer.apple.com/documentation/swiftdata/schemaproperty
public protocol SchemaProperty: Codable, Hashable {
    var name: String { get set }
    /// The name in the version of the model before; empty for the same name.
    var originalName: String { get set }
    var valueType: any Any.Type { get set }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension SchemaProperty {
    public var isOptional: Bool { valueType is any OptionalValue.Type }
    public var isAttribute: Bool { false }
    public var isRelationship: Bool { false }
    public var isTransient: Bool { false }
}

/// Types in coded schemas: by their mangled names, so that only a program that has a type can decode it.
struct CodedType: Codable {
    let type: Any.Type

    init(_ type: Any.Type) { self.type = type }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard let type = _typeByName(name) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The program has no type with the mangled name \(name).")
        }
        self.type = type
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let name = _mangledTypeName(type) else {
            throw EncodingError.invalidValue(type, .init(codingPath: encoder.codingPath, debugDescription: "The type has no mangled name."))
        }
        try container.encode(name)
    }
}
