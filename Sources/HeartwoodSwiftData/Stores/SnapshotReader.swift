import Heartwood

/// Reads the values of a snapshot of the program's own type by encoding it: its keys are the names of properties.
enum SnapshotReader {
    /// - Throws: the error of the snapshot's `encode(to:)`, or `EncodingError` for one that does not encode keys and values.
    static func values(of snapshot: some Encodable) throws -> [String: Any] {
        let found = Found()
        try snapshot.encode(to: Reader(found: found))
        guard found.hasKeys else {
            let reason = "A snapshot encodes one container of keys, which are the names of the properties."
            throw RefusingEncoder.refusal(reason, because: reason)
        }
        found.values[DataStoreSnapshotCodingKey.persistentIdentifier.stringValue] = nil
        return found.values
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
        func unkeyedContainer() -> any UnkeyedEncodingContainer { refusing }
        func singleValueContainer() -> any SingleValueEncodingContainer { refusing }
    }

    private struct Keys<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let found: Found
        var codingPath: [any CodingKey] { [] }

        mutating func encodeNil(forKey key: Key) {}
        mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            guard Unwrapping.value(value) != nil else { return }
            found.values[key.stringValue] = value
        }
        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
            refusing.container(keyedBy: type)
        }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { refusing }
        mutating func superEncoder() -> any Encoder { refusing }
        mutating func superEncoder(forKey key: Key) -> any Encoder { refusing }
    }

    private static var refusing: RefusingEncoder {
        RefusingEncoder(reason: "A snapshot encodes each property's value as one, without nested containers.")
    }
}
