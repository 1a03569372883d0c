import Foundation
import Heartwood

/// Between attribute values and what stands for them in text files: dates in ISO 8601, data in base 64, the rest as it is.
enum AttributeText {
    /// What key-value coding takes for a value from a file.
    /// - Throws: where the value is of another type.
    static func value(_ value: RecordValue, for attribute: NSAttributeDescription) throws -> Any? {
        switch (value, attribute.attributeType) {
        case (.null, _): return nil
        case (.text(let text), .stringAttributeType): return text
        case (.text(let text), _):
            if let parsed = parse(text, attribute.attributeType) { return parsed }
        case (.bool(let flag), .booleanAttributeType): return flag
        case (.number(let number), .booleanAttributeType) where number == 0 || number == 1: return number == 1
        case (.number(let number), .integer16AttributeType), (.number(let number), .integer32AttributeType),
            (.number(let number), .integer64AttributeType):
            if number.doubleValue == number.doubleValue.rounded(), let exact = Int64("\(number)") ?? Int64(exactly: number.doubleValue) { return exact }
        case (.number(let number), .doubleAttributeType): return number.doubleValue
        case (.number(let number), .floatAttributeType), (.number(let number), .decimalAttributeType):
            if let parsed = parse("\(number)", attribute.attributeType) { return parsed }
        case (.number(let number), .dateAttributeType): return Date(timeIntervalSince1970: number.doubleValue)
        default: break
        }
        throw ToolError.failure("\(attribute.name) is \(describe(attribute.attributeType)), and \(describe(value)) does not fit")
    }

    private static func parse(_ text: String, _ type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType: Int16(text)
        case .integer32AttributeType: Int32(text)
        case .integer64AttributeType: Int64(text)
        case .doubleAttributeType: Double(text).flatMap { isBeyond($0, text) ? nil : $0 }
        case .floatAttributeType: Float(text).flatMap { isBeyond($0, text) ? nil : $0 }
        case .decimalAttributeType: decimal(text)
        case .booleanAttributeType: ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false][text.lowercased()]
        case .dateAttributeType: DateText.date(text)
        case .UUIDAttributeType: UUID(uuidString: text)
        case .URIAttributeType: URL(string: text)
        case .binaryDataAttributeType: Data(base64Encoded: text)
        case .stringAttributeType: text
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
        }
    }

    /// Whether a number is too large for its type: infinity, which the text does not say.
    private static func isBeyond(_ number: some BinaryFloatingPoint, _ text: String) -> Bool {
        number.isInfinite && text.contains { ("0"..."9").contains($0) }
    }

    /// Foundation takes a text's beginning for the number.
    private static func decimal(_ text: String) -> NSDecimalNumber? {
        if text == "NaN" { return .notANumber }
        guard text.wholeMatch(of: /[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/) != nil,
            let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !decimal.isNaN
        else { return nil }
        return NSDecimalNumber(decimal: decimal)
    }

    /// What stands for a value in JSON.
    static func json(_ value: Any) -> JSONValue {
        switch value {
        case let text as String: .text(text)
        case let decimal as NSDecimalNumber: .text(decimal.stringValue)
        case let number as NSNumber: JSONValue(number)
        case let date as Date: DateText.json(date)
        case let data as Data: .text(data.base64EncodedString())
        case let uuid as UUID: .text(uuid.uuidString)
        case let url as URL: .text(url.absoluteString)
        case let id as NSManagedObjectID: .text(id.uriRepresentation().absoluteString)
        case let list as [Any]: .list(list.map(json))
        default: .text("\(value)")
        }
    }

    /// What stands for a value in CSV.
    static func text(_ value: Any) -> String { text(json(value)) }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .list(let list): list.map(text).joined(separator: ";")
        }
    }

    private static func describe(_ type: NSAttributeType) -> String {
        switch type {
        case .stringAttributeType: "text"
        case .integer16AttributeType: "a 16-bit integer"
        case .integer32AttributeType: "a 32-bit integer"
        case .integer64AttributeType: "a 64-bit integer"
        case .doubleAttributeType, .floatAttributeType: "a number"
        case .decimalAttributeType: "a decimal number"
        case .booleanAttributeType: "true or false"
        case .dateAttributeType: "a date (ISO 8601, or seconds since 1970)"
        case .UUIDAttributeType: "a UUID"
        case .URIAttributeType: "a URI"
        case .binaryDataAttributeType: "data (base 64)"
        case .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType:
            "of a type that text files cannot hold"
        }
    }

    static func describe(_ value: RecordValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .text(let text): "\"\(DisplayWidth.printable(String(text.prefix(60))))\""
        case .list: "a list"
        case .object: "an object"
        }
    }
}
