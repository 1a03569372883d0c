import Foundation
@_spi(GeneratedCode) import Heartwood

/// Chooses the coding of a type that is known only at run time.
enum AttributeCodings {
    /// - Parameter isWhole: whether a value is kept as its encoded form, as the option `codable` asks. Scalars are their own.
    /// - Returns: nil for a type that is neither Codable nor a scalar.
    static func coding(of type: Any.Type, isWhole: Bool = false) -> (any AttributeCoding)? {
        if let scalar = type as? any _PersistentScalar.Type { return scalarCoding(scalar) }
        let wrapped = Unwrapping.wrapped(type)
        guard let codable = wrapped as? any (Decodable & Encodable).Type else { return nil }
        let isOptional = type is any OptionalValue.Type
        let coding = isWhole ? wholeCoding(codable) : rawCoding(codable) ?? codableCoding(codable, canBeEmpty: !isOptional)
        return isOptional ? optional(coding) : coding
    }

    /// - Parameter type: the property's whole type, an optional included.
    /// - Returns: as `coding(of:)`, with what the property's `@Attribute` says.
    static func coding(of type: Any.Type, _ attribute: Schema.Attribute?) -> (any AttributeCoding)? {
        guard let attribute else { return coding(of: type) }
        return attribute.isTransformable ? transformable(type) : coding(of: type, isWhole: attribute.isCodable)
    }

    private static func wholeCoding<Value: Codable>(_: Value.Type) -> any AttributeCoding { JSONCoding<Value>() }

    private static func scalarCoding<Value: _PersistentScalar>(_ type: Value.Type) -> any AttributeCoding { ScalarCoding<Value>() }

    private static func rawCoding(_ type: any (Decodable & Encodable).Type) -> (any AttributeCoding)? {
        guard let type = type as? any RawRepresentable.Type else { return nil }
        return rawCoding(representable: type)
    }

    private static func rawCoding<Value: RawRepresentable>(representable type: Value.Type) -> (any AttributeCoding)? {
        guard let raw = Value.RawValue.self as? any _PersistentScalar.Type else { return nil }
        return rawCoding(type, raw)
    }

    private static func rawCoding<Value: RawRepresentable, Raw: _PersistentScalar>(_: Value.Type, _: Raw.Type) -> (any AttributeCoding)? {
        RawCoding<Value, Raw>()
    }

    private static func codableCoding<Value: Codable>(_ type: Value.Type, canBeEmpty: Bool) -> any AttributeCoding {
        if let elements = CompositeProbe.elements(of: type, canBeEmpty: canBeEmpty) { return CompositeCoding<Value>(elements: elements) }
        return JSONCoding<Value>()
    }

    /// The coding of values that one attribute of the type keeps encoded, or their parts in a composite.
    static func encoded<Value: Codable>(_: Value.Type, following stored: NSAttributeDescription) -> (any AttributeCoding)? {
        if let composite = stored as? NSCompositeAttributeDescription {
            guard let elements = CompositeProbe.elements(of: Value.self, canBeEmpty: true) else {
                // An enumeration with payloads.
                return CaseCoding<Value>(composite)
            }
            return CompositeCoding<Value>(elements: elements).following(composite)
        }
        switch stored.attributeType {
        case .binaryDataAttributeType: return JSONCoding<Value>()
        case .transformableAttributeType: return ObjectCoding<Value>()
        default: return nil
        }
    }

    private static func transformable(_ type: Any.Type) -> any AttributeCoding {
        func make<Value>(_: Value.Type) -> any AttributeCoding { TransformableCoding<Value>() }
        return _openExistential(type, do: make)
    }

    static func optional(_ coding: any AttributeCoding) -> any AttributeCoding {
        func wrap(_ coding: some AttributeCoding) -> any AttributeCoding { OptionalCoding(wrapped: coding) }
        return wrap(coding)
    }
}

/// Scalars, and optionals of them.
struct ScalarCoding<Value: _PersistentScalar>: AttributeCoding {
    var form: AttributeForm { .scalar(Value._attributeType, isOptional: Value._isOptional) }
    func read(_ object: NSManagedObject, at place: AttributePlace) -> Value? { Value._value(object, at: place.index) }
    func write(_ value: Value, to object: NSManagedObject, at place: AttributePlace) { value._write(to: object, at: place.index) }
    func object(_ value: Value) -> Any? { value._object }
    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)? { stored.isScalar(Value._attributeType) ? self : nil }
    func loose(_ object: NSManagedObject, at place: AttributePlace) -> LooseValue { .scalar(Value._value(object, at: place.index)._scalar.value) }

    func write(_ value: LooseValue, to object: NSManagedObject, at place: AttributePlace) {
        switch value {
        case .unset: return
        case .scalar(let value): _ScalarValue(value).write(to: object, at: place.index)
        default: value.scalar().map { (value: Value) in self.write(value, to: object, at: place) }
        }
    }
}

/// Enumerations, and other types with raw values that are scalars.
struct RawCoding<Value: RawRepresentable, Raw: _PersistentScalar>: AttributeCoding {
    var form: AttributeForm { .raw(Raw._attributeType, isOptional: Raw._isOptional) }

    /// The only element of the composite, or in a store of another kind the attribute itself.
    private func index(_ place: AttributePlace) -> Int { place.elements.first?.place.index ?? place.index }

    func read(_ object: NSManagedObject, at place: AttributePlace) -> Value? {
        guard let stored = object.managedAttribute(at: index(place)), let raw = Raw(_object: stored) else { return nil }
        return (raw as? Value.RawValue).flatMap(Value.init(rawValue:))
    }

    func write(_ value: Value, to object: NSManagedObject, at place: AttributePlace) {
        if let raw = value.rawValue as? Raw { raw._write(to: object, at: index(place)) }
    }

    func object(_ value: Value) -> Any? { (value.rawValue as? Raw)?._object }

    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)? {
        guard let composite = stored as? NSCompositeAttributeDescription else { return stored.isScalar(Raw._attributeType) ? self : nil }
        return composite.elements.count == 1 && composite.elements[0].isScalar(Raw._attributeType) ? self : nil
    }
}

extension NSAttributeDescription {
    /// Whether it is no composite, and has the type.
    func isScalar(_ type: NSAttributeType) -> Bool { attributeType == type && !(self is NSCompositeAttributeDescription) }
}

struct OptionalCoding<Wrapped: AttributeCoding>: AttributeCoding {
    let wrapped: Wrapped

    var form: AttributeForm { wrapped.form.optional }
    func read(_ object: NSManagedObject, at place: AttributePlace) -> Wrapped.Value?? {
        // Both layers: the attribute has a value of this type always, and that may be nil.
        .some(wrapped.isAbsent(object, at: place) ? nil : wrapped.read(object, at: place))
    }
    func write(_ value: Wrapped.Value?, to object: NSManagedObject, at place: AttributePlace) throws {
        if let value { try wrapped.write(value, to: object, at: place) } else { object.setManagedAttribute(nil, at: place.index) }
    }
    func object(_ value: Wrapped.Value?) throws -> Any? { try value.flatMap(wrapped.object) }
    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)? { wrapped.following(stored).map(AttributeCodings.optional) }
    var parts: [CompositeElement]? { wrapped.parts }
}

extension AttributeForm {
    var optional: AttributeForm {
        switch self {
        case .scalar(let type, _): .scalar(type, isOptional: true)
        case .raw(let type, _): .raw(type, isOptional: true)
        case .composite(let elements, _): .composite(elements, isOptional: true)
        case .json: .json(isOptional: true)
        case .transformable(let name, _): .transformable(className: name, isOptional: true)
        }
    }
}

/// Values whose transformer, and not their coder, makes them bytes.
struct TransformableCoding<Value>: AttributeCoding {
    var form: AttributeForm {
        .transformable(
            className: (Unwrapping.wrapped(Value.self) as? AnyClass).map { _typeName($0) },
            isOptional: Value.self is any OptionalValue.Type)
    }
    func read(_ object: NSManagedObject, at place: AttributePlace) -> Value? { object.managedAttribute(at: place.index) as? Value }
    func write(_ value: Value, to object: NSManagedObject, at place: AttributePlace) {
        object.setManagedAttribute(Unwrapping.value(value), at: place.index)
    }
    func object(_ value: Value) -> Any? { value }
    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)? { stored.isScalar(.transformableAttributeType) ? self : nil }
}

/// Values without fixed parts: arrays, dictionaries, enumerations with payloads and values of recursive types.
struct JSONCoding<Value: Codable>: AttributeCoding {
    var form: AttributeForm { .json(isOptional: false) }

    func read(_ object: NSManagedObject, at place: AttributePlace) -> Value? {
        (object.managedAttribute(at: place.index) as? Data).flatMap { try? JSONForm.decode(Value.self, from: $0) }
    }
    func write(_ value: Value, to object: NSManagedObject, at place: AttributePlace) throws {
        object.setManagedAttribute(try JSONForm.encode(value), at: place.index)
    }
    func object(_ value: Value) throws -> Any? { try JSONForm.encode(value) }
    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)? { AttributeCodings.encoded(Value.self, following: stored) }
}
