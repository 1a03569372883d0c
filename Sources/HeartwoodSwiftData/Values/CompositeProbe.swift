import Foundation
import Heartwood

/// An element of a composite: a stored property of a Codable structure.
struct CompositeElement: Sendable {
    let name: String
    let coding: any AttributeCoding
}

/// Finds the parts of a Codable structure by decoding one from neutral values, and noting what the structure asks for.
struct CompositeProbe {
    /// A structure may contain itself, in an optional.
    private static let depthMax = 8

    /// - Returns: nil for a type that does not decode one container of keys, each by one call, from neutral values.
    ///   An optional structure is absent where no element has a value, so one element must always have one.
    /// - Parameter canBeEmpty: whether a structure of optional elements alone will do.
    static func elements<Value: Decodable>(of type: Value.Type, canBeEmpty: Bool) -> [CompositeElement]? {
        elements(of: type, canBeEmpty, depth: 0)
    }

    private static func elements<Value: Decodable>(of type: Value.Type, _ canBeEmpty: Bool, depth: Int) -> [CompositeElement]? {
        // A type that Foundation knows how to encode would be taken apart otherwise.
        guard depth < depthMax, !(type is any Collection.Type) else { return nil }
        let notes = ProbeNotes(depth: depth)
        guard (try? Value(from: ProbeDecoder(notes: notes))) != nil, !notes.isOdd, !notes.elements.isEmpty else { return nil }
        guard canBeEmpty || notes.elements.contains(where: { !$0.coding.form.isOptional }) else { return nil }
        return notes.elements
    }

    /// A value of the type for the probe; nil where there is none.
    static func neutral<Value: Decodable>(_ type: Value.Type, depth: Int) -> Value? {
        if let scalar = type as? any _PersistentScalar.Type { return scalar._neutral as? Value }
        if let optional = type as? any OptionalValue.Type { return optional.init(nilLiteral: ()) as? Value }
        if let empty = type as? any EmptyContainer.Type { return empty.init() as? Value }
        if let raw = type as? any RawRepresentable.Type { return representable(raw) as? Value }
        if let cases = type as? any CaseIterable.Type, let first = firstCase(cases) as? Value { return first }
        if let empty = PropertyDefaults.emptyCollection(type) { return empty as? Value }
        guard depth < depthMax else { return nil }
        return try? Value(from: ProbeDecoder(notes: ProbeNotes(depth: depth + 1)))
    }

    /// A value of the type, if any way leads to one: also of an enumeration with payloads, of which no composite is made.
    static func anyNeutral<Value: Decodable>(_ type: Value.Type, depth: Int = 0) -> Value? {
        if let found = neutral(type, depth: depth) { return found }
        guard depth < depthMax else { return nil }
        return try? Value(from: ProbeDecoder(notes: ProbeNotes(depth: depth + 1, takesCases: true)))
    }

    private static func firstCase<Cases: CaseIterable>(_: Cases.Type) -> Any? { Cases.allCases.first }

    private static func representable<Value: RawRepresentable>(_ type: Value.Type) -> Any? { RawValues.known(of: type).first }
}

/// The standard library's containers, which are empty where nothing is known of their elements.
private protocol EmptyContainer {
    init()
}

extension Array: EmptyContainer {}
extension Dictionary: EmptyContainer {}
extension Set: EmptyContainer {}

/// What a structure asks of the decoder.
private final class ProbeNotes {
    let depth: Int
    var elements: [CompositeElement] = []
    /// Whether it asked for something that is no element of a composite.
    var isOdd = false
    /// Whether an enumeration with payloads may have its first case.
    let takesCases: Bool

    init(depth: Int, takesCases: Bool = false) {
        self.depth = depth
        self.takesCases = takesCases
    }

    func note<Value: Decodable>(_ name: String, _ type: Value.Type, isOptional: Bool) {
        let wanted: Any.Type = isOptional ? Value?.self : type
        guard let coding = AttributeCodings.coding(of: wanted), !elements.contains(where: { $0.name == name }), !name.contains(".") else {
            isOdd = true
            return
        }
        elements.append(CompositeElement(name: name, coding: coding))
    }
}

private struct ProbeDecoder: Decoder {
    let notes: ProbeNotes
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> { KeyedDecodingContainer(ProbeContainer(notes: notes)) }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refusal }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw refusal }

    private var refusal: DecodingError {
        notes.isOdd = true
        return .dataCorrupted(.init(codingPath: [], debugDescription: "A composite has a container of keys."))
    }
}

private struct ProbeContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let notes: ProbeNotes
    var codingPath: [any CodingKey] { [] }
    /// An enumeration with payloads looks for its case here, and refuses if there is none.
    var allKeys: [Key] { notes.takesCases ? [EnumerationCase.first(of: Key.self)].compactMap(\.self) : [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        notes.note(key.stringValue, type, isOptional: false)
        let value = notes.takesCases ? CompositeProbe.anyNeutral(type, depth: notes.depth) : CompositeProbe.neutral(type, depth: notes.depth)
        guard let value else { throw refusal(key) }
        return value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        notes.note(key.stringValue, type, isOptional: true)
        return nil
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try scalar(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try scalar(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try scalar(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try scalar(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try scalar(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try scalar(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try scalar(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try scalar(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try scalar(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try scalar(key) }

    private func scalar<Value: _PersistentScalar>(_ key: Key) throws -> Value {
        notes.note(key.stringValue, Value.self, isOptional: false)
        return Value._neutral
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try absent(key, type) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try absent(key, type) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try absent(key, type) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try absent(key, type) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try absent(key, type) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try absent(key, type) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try absent(key, type) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try absent(key, type) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try absent(key, type) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try absent(key, type) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try absent(key, type) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try absent(key, type) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try absent(key, type) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try absent(key, type) }

    private func absent<Value: Decodable>(_ key: Key, _ type: Value.Type) throws -> Value? {
        notes.note(key.stringValue, type, isOptional: true)
        return nil
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        guard notes.takesCases else { throw refusal(key) }
        return KeyedDecodingContainer(ProbeContainer<Nested>(notes: notes))
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw refusal(key) }
    func superDecoder() throws -> any Decoder { throw refusal(nil) }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw refusal(key) }

    private func refusal(_ key: Key?) -> DecodingError {
        notes.isOdd = true
        return .dataCorrupted(.init(codingPath: key.map { [$0] } ?? [], debugDescription: "No element of a composite can have this."))
    }
}
