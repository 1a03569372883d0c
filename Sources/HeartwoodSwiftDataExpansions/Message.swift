/// A JSON object whose members are read where they are asked for. A compiler sends the whole class again for each member of it, of which most answers
/// need a few words: a string is passed over by its quotes, and decoded only if somebody reads it.
struct Message {
    private let bytes: [UInt8]
    /// The value's bytes.
    private let range: Range<Int>

    /// - Returns: nil unless the bytes are one JSON object.
    init?(_ bytes: [UInt8]) {
        var scanner = JSONScanner(bytes: bytes, position: 0)
        scanner.skipSpace()
        let start = scanner.position
        guard scanner.peek == UInt8(ascii: "{"), scanner.skipValue() else { return nil }
        let end = scanner.position
        scanner.skipSpace()
        guard scanner.position == bytes.count else { return nil }
        self.init(bytes, start..<end)
    }

    private init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        self.range = range
    }

    /// The member of an object; nil for another value, for a missing member, and for `null`.
    subscript(key: StaticString) -> Message? {
        var scanner = JSONScanner(bytes: bytes, position: range.lowerBound)
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        while scanner.position < range.upperBound {
            scanner.skipSpace()
            let start = scanner.position
            guard scanner.skipString() else { return nil }
            let isFound = scanner.string(start..<scanner.position, equals: key)
            guard scanner.take(UInt8(ascii: ":")) else { return nil }
            scanner.skipSpace()
            let value = scanner.position
            guard scanner.skipValue() else { return nil }
            if isFound { return bytes[value] == UInt8(ascii: "n") ? nil : Message(bytes, value..<scanner.position) }
            guard scanner.take(UInt8(ascii: ",")) else { return nil }
        }
        return nil
    }

    /// The bytes of a string, its escapes resolved; nil for another value.
    var stringBytes: [UInt8]? {
        guard range.count >= 2, bytes[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
        return JSONScanner(bytes: bytes, position: 0).decoded(range.lowerBound + 1..<range.upperBound - 1)
    }

    /// The value as it is written.
    var text: String { String(decoding: bytes[range], as: UTF8.self) }

    var string: String? { stringBytes.map { String(decoding: $0, as: UTF8.self) } }

    /// A whole number; nil for another value, and for one that no `Int` holds.
    var integer: Int? { Int(text) }
}
