import Foundation

/// A JSON value.
enum JSONValue {
    case text(String)
    case integer(Int64)
    case double(Double)
    case bool(Bool)
    case list([JSONValue])
    case object([String: JSONValue])

    init(_ number: NSNumber) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): self = .bool(number.boolValue)
        case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .double(number.doubleValue)
        default: self = .integer(number.int64Value)
        }
    }
}
