/// A value in a form that the page shows.
enum ReportCell: Encodable {
    case null
    case text(String)
    /// A text that is longer than a page shows.
    case cut(String, length: Int)
    case number(Double)
    case flag(Bool)
    /// Bytes: how many, the first of them in hexadecimal digits, and the picture that they are.
    case data(bytes: Int, start: String, picture: Picture?)
    /// A transformable.
    case object(type: String, text: String?, bytes: Int?)
    case reference(String)
    case members(count: Int, first: [String])

    struct Picture: Encodable {
        /// "image/png" and its like.
        var type: String
        /// nil if it is too large for the page.
        var base64: String?
    }

    private enum Key: String, CodingKey {
        case cut, length, bytes, start, picture, type, text, count, first
    }

    func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .null: try single.encodeNil()
        case .text(let text), .reference(let text): try single.encode(text)
        case .number(let number): try single.encode(number)
        case .flag(let flag): try single.encode(flag)
        case .cut(let text, let length):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(text, forKey: .cut)
            try container.encode(length, forKey: .length)
        case .data(let bytes, let start, let picture):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(bytes, forKey: .bytes)
            try container.encode(start, forKey: .start)
            try container.encodeIfPresent(picture, forKey: .picture)
        case .object(let type, let text, let bytes):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(type, forKey: .type)
            try container.encodeIfPresent(text, forKey: .text)
            try container.encodeIfPresent(bytes, forKey: .bytes)
        case .members(let count, let first):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(count, forKey: .count)
            try container.encode(first, forKey: .first)
        }
    }
}
