import Foundation
@_spi(GeneratedCode) import Heartwood

/// How the values of one type become attributes of a managed object.
protocol AttributeCoding<Value>: Sendable {
    associatedtype Value

    /// The form of the attribute in the model.
    var form: AttributeForm { get }
    /// The value of the attribute at its place in the object's entity; nil where the object has none that the type can hold.
    func read(_ object: NSManagedObject, at place: AttributePlace) -> Value?
    /// - Throws: the error of the value's `encode(to:)`. The object has its former value then.
    func write(_ value: Value, to object: NSManagedObject, at place: AttributePlace) throws
    /// The value as a model's description and a predicate have it: a scalar, or a dictionary of a composite's elements.
    func object(_ value: Value) throws -> Any?
    /// The attribute as a model has it that leaves its context.
    func loose(_ object: NSManagedObject, at place: AttributePlace) -> LooseValue
    /// Writes what a model of no context has had. A property that was never set stays as it is.
    /// - Throws: as `write` does.
    func write(_ value: LooseValue, to object: NSManagedObject, at place: AttributePlace) throws
    /// Whether the object has nothing of the value, so that an optional value is nil.
    func isAbsent(_ object: NSManagedObject, at place: AttributePlace) -> Bool
    /// The coding for an attribute as a store has it, whose form may be another one; nil if the type's values have no such form.
    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)?
    /// The properties of a structure that is a composite; nil for another form.
    var parts: [CompositeElement]? { get }
}

extension AttributeCoding {
    var parts: [CompositeElement]? { nil }
    func isAbsent(_ object: NSManagedObject, at place: AttributePlace) -> Bool { false }
}

/// Where an entity has an attribute: its index among the entity's properties, and those of a composite's elements.
final class AttributePlace: Sendable {
    let index: Int
    let elements: [(name: String, place: AttributePlace)]

    init(index: Int, elements: [(name: String, place: AttributePlace)] = []) {
        self.index = index
        self.elements = elements
    }

    func element(_ name: String) -> AttributePlace? { elements.first { $0.name == name }?.place }
}

/// The form of an attribute in the managed object model.
///
/// The forms are those of SwiftData's own files: an enumeration with raw values is a composite of one element with the property's name, and a
/// structure is a composite of its properties, so that its parts can be asked for. What has no fixed parts is JSON. A store that was made otherwise
/// keeps its forms: see `AttributeCoding.following`.
indirect enum AttributeForm: Sendable {
    case scalar(NSAttributeType, isOptional: Bool)
    /// An enumeration with raw values.
    case raw(NSAttributeType, isOptional: Bool)
    case composite([Element], isOptional: Bool)
    /// JSON in binary data.
    case json(isOptional: Bool)
    case transformable(className: String?, isOptional: Bool)

    struct Element: Sendable {
        let name: String
        let valueType: any Any.Type
        let form: AttributeForm
    }

    var isScalar: Bool { if case .scalar = self { true } else { false } }

    var isOptional: Bool {
        switch self {
        case .scalar(_, let isOptional), .raw(_, let isOptional), .composite(_, let isOptional), .json(let isOptional),
            .transformable(_, let isOptional):
            isOptional
        }
    }
}

extension AttributeCoding {
    func writeAny(_ value: Any?, to object: NSManagedObject, at place: AttributePlace) throws {
        guard let value = value as? Value else { return object.setManagedAttribute(nil, at: place.index) }
        try write(value, to: object, at: place)
    }

    func readAny(_ object: NSManagedObject, at place: AttributePlace) -> Any? { read(object, at: place) }

    func loose(_ object: NSManagedObject, at place: AttributePlace) -> LooseValue { read(object, at: place).map { .other($0) } ?? .unset }

    func write(_ value: LooseValue, to object: NSManagedObject, at place: AttributePlace) throws {
        if case .unset = value { return }
        try writeAny(self.value(of: value).flatMap(Unwrapping.value), to: object, at: place)
    }

    /// The value that a model of no context has; nil if it has none.
    func value(of loose: LooseValue) -> Any? { loose.value(as: Value.self) }
}
