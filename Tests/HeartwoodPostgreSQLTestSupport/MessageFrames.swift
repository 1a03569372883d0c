/// Cuts a stream of the protocol into messages.
///
/// Source: "Message Formats" of PostgreSQL's documentation: a type's byte and a length of four bytes that counts itself. The client's first
/// message has no type.
struct MessageFrames {
    private var bytes: [UInt8] = []
    private var hasType: Bool

    init(fromClient: Bool) { hasType = !fromClient }

    mutating func add(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// The next whole message.
    mutating func next() -> [UInt8]? {
        let start = hasType ? 1 : 0
        guard bytes.count >= start + 4 else { return nil }
        let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= start + length else { return nil }
        let message = Array(bytes[..<(start + length)])
        bytes.removeFirst(start + length)
        hasType = true
        return message
    }
}
