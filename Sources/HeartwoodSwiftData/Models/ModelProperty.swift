import Foundation
import Heartwood

/// A persisted property of a model class.
final class ModelProperty: @unchecked Sendable {
    // Unchecked: immutable; key paths and types are immutable, and the declaration is only read.

    enum Kind {
        case attribute(any AttributeCoding)
        case toOne(any PersistentModel.Type)
        case toMany(any PersistentModel.Type)
        /// The type is none that a store can keep.
        case unfit
    }

    let name: String
    let keyPath: AnyKeyPath
    /// The place among the properties of its class.
    let position: Int
    /// The number of model classes above the class that declares it.
    let level: Int
    let kind: Kind
    let isOptional: Bool
    let valueType: Any.Type
    let defaultValue: Any?
    /// What `@Attribute` or `@Relationship` says; nil without one.
    let declaration: (any SchemaProperty)?

    init(_ metadata: Schema.PropertyMetadata, position: Int, level: Int) {
        name = metadata.name
        keyPath = metadata.keypath
        self.position = position
        self.level = level
        declaration = metadata.metadata
        valueType = type(of: metadata.keypath).valueType
        isOptional = valueType is any OptionalValue.Type
        defaultValue = metadata.defaultValue
        kind = Self.kind(valueType, Unwrapping.wrapped(valueType), declaration as? Schema.Attribute)
    }

    private static func kind(_ type: Any.Type, _ wrapped: Any.Type, _ attribute: Schema.Attribute?) -> Kind {
        if let model = wrapped as? any PersistentModel.Type { return .toOne(model) }
        if let members = type as? any RelationshipCollection.Type { return .toMany(members.element) }
        guard let coding = AttributeCodings.coding(of: type, attribute) else { return .unfit }
        return .attribute(coding)
    }
}

extension RelationshipCollection {
    fileprivate static var element: any PersistentModel.Type { PersistentElement.self }
}
