/// Takes what a value encodes where nothing may be encoded, and refuses it. `encode(to:)` asks for most containers by calls that cannot throw.
struct RefusingEncoder: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
    /// Why nothing may be encoded here.
    let reason: String
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { 0 }

    static func refusal(_ value: Any, at path: [any CodingKey] = [], because reason: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: path, debugDescription: reason))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> { KeyedEncodingContainer(Keys(encoder: self)) }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws { throw Self.refusal(Any?.none as Any, because: reason) }
    func encode<Value: Encodable>(_ value: Value) throws { throw Self.refusal(value, because: reason) }
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> { container(keyedBy: type) }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { self }

    private struct Keys<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: RefusingEncoder
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) throws { throw refusal(Any?.none as Any, at: [key], because: encoder.reason) }
        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { throw refusal(value, at: [key], because: encoder.reason) }
        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
            encoder.container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder }
        func superEncoder() -> any Encoder { encoder }
        func superEncoder(forKey key: Key) -> any Encoder { encoder }
    }
}
