import Foundation
@_spi(GeneratedCode) import Heartwood

/// A Codable structure, whose stored properties are the elements of a composite.
struct CompositeCoding<Value: Codable>: AttributeCoding {
    let elements: [CompositeElement]

    var parts: [CompositeElement]? { elements }

    var form: AttributeForm {
        .composite(elements.map { $0.schemaElement }, isOptional: false)
    }

    func read(_ object: NSManagedObject, at place: AttributePlace) -> Value? {
        guard canBeEmpty || !isAbsent(object, at: place) else { return nil }
        return try? Value(from: CompositeDecoder(elements: elements, object: object, place: place))
    }

    /// Whether a structure without a value in any element is still one.
    private var canBeEmpty: Bool { elements.allSatisfy { $0.coding.form.isOptional } }

    func isAbsent(_ object: NSManagedObject, at place: AttributePlace) -> Bool { object.managedAttribute(at: place.index) == nil }

    /// Each element follows the stored one of its name, and keeps its own form where there is none.
    func following(_ stored: NSAttributeDescription) -> (any AttributeCoding)? {
        guard let composite = stored as? NSCompositeAttributeDescription else {
            return AttributeCodings.encoded(Value.self, following: stored)
        }
        return CompositeCoding(elements: elements.map { element in
            let found = composite.elements.first { $0.name == element.name }.flatMap(element.coding.following)
            return CompositeElement(name: element.name, coding: found ?? element.coding)
        })
    }

    func write(_ value: Value, to object: NSManagedObject, at place: AttributePlace) throws {
        let found = CompositeEncoder(elements: elements)
        try value.encode(to: found)
        // All parts are encoded before the first is written: an error leaves the object as it was.
        for (element, entry) in zip(elements, place.elements) {
            try element.coding.writeAny(found.values[element.name], to: object, at: entry.place)
        }
    }

    func object(_ value: Value) throws -> Any? {
        let found = CompositeEncoder(elements: elements)
        try value.encode(to: found)
        var result: [String: Any] = [:]
        for element in elements { result[element.name] = try found.values[element.name].flatMap { try element.coding.objectOfAny($0) } }
        return result
    }
}

extension CompositeElement {
    fileprivate var schemaElement: AttributeForm.Element {
        AttributeForm.Element(name: name, valueType: coding.valueType, form: coding.form)
    }
}

extension AttributeCoding {
    var valueType: any Any.Type { Value.self }

    func objectOfAny(_ value: Any) throws -> Any? { try (value as? Value).flatMap(object) }
}

// MARK: Decoding

private struct CompositeDecoder: Decoder {
    let elements: [CompositeElement]
    let object: NSManagedObject
    let place: AttributePlace
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(CompositeContainer(decoder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refusal() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw refusal() }

    func refusal() -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "A composite has one container of keys."))
    }

    /// The value of an element. A type other than the element's own is none.
    func value<Wanted>(_ name: String) -> Wanted? {
        guard let element = elements.first(where: { $0.name == name }), let place = place.element(name) else { return nil }
        return element.coding.readAny(object, at: place) as? Wanted
    }
}

private struct CompositeContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: CompositeDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.elements.compactMap { Key(stringValue: $0.name) } }

    func contains(_ key: Key) -> Bool { decoder.place.element(key.stringValue) != nil }

    func decodeNil(forKey key: Key) -> Bool {
        decoder.place.element(key.stringValue).map { decoder.object.managedAttribute(at: $0.index) == nil } ?? true
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let value: Value = decoder.value(key.stringValue) else {
            throw DecodingError.valueNotFound(type, .init(codingPath: [key], debugDescription: "The store has no value for it."))
        }
        return value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let value: Value?? = decoder.value(key.stringValue)
        return value ?? nil
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw decoder.refusal()
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw decoder.refusal() }
    func superDecoder() throws -> any Decoder { throw decoder.refusal() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.refusal() }
}

// MARK: Encoding

private final class CompositeEncoder: Encoder {
    let elements: [CompositeElement]
    /// The values by element, each of the element's own type.
    var values: [String: Any] = [:]
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(elements: [CompositeElement]) { self.elements = elements }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(CompositeWriting(encoder: self))
    }
    /// A value that encodes itself otherwise than it is decoded has no elements to write to; what it writes here is lost, and `write` would
    /// leave the elements empty. So the containers refuse.
    func unkeyedContainer() -> any UnkeyedEncodingContainer { Self.refusing }
    func singleValueContainer() -> any SingleValueEncodingContainer { Self.refusing }

    static var refusing: RefusingEncoder { RefusingEncoder(reason: "The type decodes other parts than it encodes.") }
}

private struct CompositeWriting<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: CompositeEncoder
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) {}

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        guard encoder.elements.contains(where: { $0.name == key.stringValue }) else {
            throw RefusingEncoder.refusal(value, at: [key], because: CompositeEncoder.refusing.reason)
        }
        encoder.values[key.stringValue] = value
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        CompositeEncoder.refusing.container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { CompositeEncoder.refusing }
    mutating func superEncoder() -> any Encoder { CompositeEncoder(elements: []) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { CompositeEncoder(elements: []) }
}
