import Foundation
import Heartwood
import Synchronization

/// A persisted property of a model class.
final class ModelProperty: @unchecked Sendable {
    // Unchecked: immutable, save for the fallback, which a mutex guards; key paths and types are immutable, and the declaration is only read.

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
    /// Whether no value can be made up: the class declares none, and the type has no neutral one.
    let needsFallback: Bool
    private let known = Mutex(UncheckedSendable<Any?>(nil))

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
        needsFallback = if case .attribute = kind { defaultValue == nil && !PropertyDefaults.hasNeutral(valueType) } else { false }
    }

    /// The newest value that a model had, for one whose own value is lost; nil before there was one.
    var fallback: Any? { known.withLock { $0 }.value }

    /// Keeps a value for models that lose theirs.
    func keep(_ value: Any) {
        guard needsFallback else { return }
        let box = UncheckedSendable<Any?>(value)
        known.withLock { $0 = box }
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
