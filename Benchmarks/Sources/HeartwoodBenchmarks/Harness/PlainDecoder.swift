/// A decoder that has the same text and a number for each row, and looks for nothing: what Swift's decoding of a structure costs by itself.
final class PlainDecoder: Decoder {
    let text: [UInt8]
    fileprivate(set) var number = 0
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    /// The container for these keys, which each row asks for.
    private var kept: AnyObject?
    private var keptKeys: ObjectIdentifier?

    private final class Kept<Key: CodingKey> {
        let container: KeyedDecodingContainer<Key>

        init(_ container: KeyedDecodingContainer<Key>) { self.container = container }
    }

    private init(_ text: String) { self.text = Array(text.utf8) }

    /// Fills an array with this number of structures, and adds them up.
    static func structures(_ count: Int) throws -> Int {
        let decoder = PlainDecoder("Barbara 99999")
        var rows: [PersonRow] = []
        rows.reserveCapacity(count)
        for number in 0..<count {
            decoder.number = number
            rows.append(try PersonRow(from: decoder))
        }
        return rows.reduce(0) { $0 &+ $1.name.utf8.count &+ $1.age }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if let kept, keptKeys == ObjectIdentifier(Key.self) { return unsafeDowncast(kept, to: Kept<Key>.self).container }
        let made = Kept(KeyedDecodingContainer(PlainContainer<Key>(decoder: self)))
        (kept, keptKeys) = (made, ObjectIdentifier(Key.self))
        return made.container
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.refusal }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.refusal }

    fileprivate static var refusal: PeerError { PeerError(description: "a structure has a text and a number") }
}

private struct PlainContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: PlainDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { String(decoding: decoder.text, as: UTF8.self) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { decoder.number }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { throw PlainDecoder.refusal }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw PlainDecoder.refusal
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw PlainDecoder.refusal }
    func superDecoder() throws -> any Decoder { throw PlainDecoder.refusal }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw PlainDecoder.refusal }
}
