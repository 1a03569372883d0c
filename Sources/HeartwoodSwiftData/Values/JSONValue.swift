import Foundation

/// A value of JSON whose type the program does not say.
enum JSONValue: Codable, Hashable, Sendable {
    case null, bool(Bool), integer(Int64), unsigned(UInt64), decimal(Decimal), double(Double), string(String)
    case array([JSONValue]), object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        func value<Value: Decodable>(_ type: Value.Type) -> Value? { try? container.decode(type) }
        self = if container.decodeNil() {
            .null
        } else if let bool = value(Bool.self) {
            .bool(bool)
        } else if let number = value(Int64.self) {
            .integer(number)
        } else if let number = value(UInt64.self) {
            .unsigned(number)
        } else if let number = value(Decimal.self), number.isFinite {
            .decimal(number)
        } else if let text = value(String.self) {
            // Before numbers with fractions, among which the coder counts the texts of infinity.
            .string(text)
        } else if let number = value(Double.self) {
            .double(number)
        } else if let values = value([JSONValue].self) {
            .array(values)
        } else {
            .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
