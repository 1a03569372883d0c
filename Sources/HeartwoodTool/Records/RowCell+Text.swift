import Foundation
import Heartwood

/// The text forms of cells, as `AttributeText` has them for objects.
extension RowCell {
    /// nil for no value.
    var json: JSONValue? {
        switch self {
        case .null, .missing, .reference: nil
        case .bool(let flag): .bool(flag)
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .date(let seconds): DateText.json(Date(timeIntervalSinceReferenceDate: seconds))
        case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
        case .uuid(let first, let second): .text(UUID(storedBytes: (first, second)).uuidString)
        case .object(let object): AttributeText.json(object.value)
        }
    }

    var isNull: Bool {
        switch self {
        case .null, .missing: true
        default: false
        }
    }

    /// Whether a table has it at the right.
    var isNumber: Bool {
        switch self {
        case .integer, .double: return true
        case .object(let object):
            switch AttributeText.json(object.value) {
            case .integer, .double: return true
            default: return object.value is NSDecimalNumber
            }
        default: return false
        }
    }
}

extension OutputBuffer {
    /// Adds a cell as JSON.
    /// - Precondition: it has a value.
    func add(_ cell: RowCell) {
        switch cell {
        case .text(let bytes): add(json: bytes)
        case .integer(let number): add(number)
        case .double(let number): add(json: number)
        case .bool(let flag): add(flag ? "true" : "false")
        case .date(let seconds):
            // A quote before and one behind.
            let start = room(DateText.isoMax + 2)
            guard let count = DateText.iso(seconds, into: start + 1) else {
                return add(DateText.secondsSince1970(Date(timeIntervalSinceReferenceDate: seconds)))
            }
            start.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
            start.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count + 1, as: UInt8.self)
            added(count + 2)
        default: if let value = cell.json { add(value) }
        }
    }
}
