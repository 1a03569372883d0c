import Foundation

/// Reads the values of a snapshot of the program's own type by encoding it: its keys are the names of properties.
enum SnapshotReader {
    /// - Throws: the error of the snapshot's `encode(to:)`, or `EncodingError` for one that does not encode keys and values.
    static func values(of snapshot: some Encodable) throws -> [String: Any] {
        let found = Found()
        try snapshot.encode(to: Reader(found: found))
        guard found.hasKeys else { throw refusal("A snapshot encodes one container of keys, which are the names of the properties.") }
        found.values[DataStoreSnapshotCodingKey.persistentIdentifier.stringValue] = nil
        return found.values
    }

    private static func refusal(_ text: String, _ path: [any CodingKey] = []) -> EncodingError {
        .invalidValue(text, .init(codingPath: path, debugDescription: text))
    }

    private final class Found {
        var values: [String: Any] = [:]
        var hasKeys = false
    }

    private struct Reader: Encoder {
        let found: Found
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            found.hasKeys = true
            return KeyedEncodingContainer(Keys<Key>(found: found))
        }
        func unkeyedContainer() -> any UnkeyedEncodingContainer { Refusing() }
        func singleValueContainer() -> any SingleValueEncodingContainer { Refusing() }
    }

    private struct Keys<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let found: Found
        var codingPath: [any CodingKey] { [] }

        mutating func encodeNil(forKey key: Key) {}
        mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            if let optional = value as? any OptionalType, optional.content == nil { return }
            found.values[key.stringValue] = value
        }
        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(RefusingKeys<Nested>())
        }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Refusing() }
        mutating func superEncoder() -> any Encoder { RefusingEncoder() }
        mutating func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder() }
    }

    private static let nestedText = "A snapshot encodes each property's value as one, without nested containers."

    private struct RefusingKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
        var codingPath: [any CodingKey] { [] }
        mutating func encodeNil(forKey key: Key) throws { throw refusal(nestedText, [key]) }
        mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { throw refusal(nestedText, [key]) }
        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(RefusingKeys<Nested>())
        }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Refusing() }
        mutating func superEncoder() -> any Encoder { RefusingEncoder() }
        mutating func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder() }
    }

    private struct Refusing: UnkeyedEncodingContainer, SingleValueEncodingContainer {
        var codingPath: [any CodingKey] { [] }
        var count: Int { 0 }
        mutating func encodeNil() throws { throw refusal(nestedText) }
        mutating func encode<Value: Encodable>(_ value: Value) throws { throw refusal(nestedText) }
        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(RefusingKeys<Nested>())
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { Refusing() }
        mutating func superEncoder() -> any Encoder { RefusingEncoder() }
    }

    private struct RefusingEncoder: Encoder {
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }
        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> { KeyedEncodingContainer(RefusingKeys<Key>()) }
        func unkeyedContainer() -> any UnkeyedEncodingContainer { Refusing() }
        func singleValueContainer() -> any SingleValueEncodingContainer { Refusing() }
    }
}
