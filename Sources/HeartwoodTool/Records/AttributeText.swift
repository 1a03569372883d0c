import Foundation
import Heartwood

/// Converts between attribute values and their form in text files: dates in ISO 8601, data in base 64, the rest as it is.
enum AttributeText {
    /// The value for key-value coding that a value from a file stands for.
    /// - Throws: if the value is of another type.
    static func value(_ value: RecordValue, for attribute: NSAttributeDescription) throws -> Any? {
        switch (value, attribute.attributeType) {
        case (.null, _): return nil
        case (.text(let text), .stringAttributeType): return text
        case (.text(let text), _):
            if let parsed = parse(text, attribute.attributeType) { return parsed }
        case (.bool(let flag), .booleanAttributeType): return flag
        case (.number(let number), .booleanAttributeType):
            if let flag = number.digits?.integer, flag == 0 || flag == 1 { return flag == 1 }
        case (.number(let number), .integer16AttributeType):
            if let exact = number.digits?.integer, let fitting = Int16(exactly: exact) { return fitting }
        case (.number(let number), .integer32AttributeType):
            if let exact = number.digits?.integer, let fitting = Int32(exactly: exact) { return fitting }
        case (.number(let number), .integer64AttributeType):
            if let exact = number.digits?.integer { return exact }
        case (.number(let number), .doubleAttributeType), (.number(let number), .floatAttributeType),
            (.number(let number), .decimalAttributeType):
            if let parsed = parse(number.text, attribute.attributeType) { return parsed }
        case (.number(let number), .dateAttributeType):
            if let date = DateText.date(seconds: number.text) { return date }
        default: break
        }
        throw ToolError.failure("\(attribute.name) is \(describe(attribute.attributeType)), and \(describe(value)) does not fit")
    }

    private static func parse(_ text: String, _ type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType: Int16(text)
        case .integer32AttributeType: Int32(text)
        case .integer64AttributeType: Int64(text)
        case .doubleAttributeType: FloatText.value(text, as: Double.self)
        case .floatAttributeType: FloatText.value(text, as: Float.self)
        case .decimalAttributeType: decimal(text)
        case .booleanAttributeType: ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false][text.lowercased()]
        case .dateAttributeType: DateText.date(text)
        case .UUIDAttributeType: UUID(uuidString: text)
        case .URIAttributeType: uri(text)
        case .binaryDataAttributeType: data(base64: text)
        case .stringAttributeType: text
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
        }
    }

    /// - Returns: nil for a text that Foundation would change, by escapes or another host, to make a URI of it.
    private static func uri(_ text: String) -> URL? {
        URL(string: text, encodingInvalidCharacters: false).flatMap { $0.absoluteString == text ? $0 : nil }
    }

    /// - Returns: nil also where bits of the last character are lost: another text has the same bytes, so this one may be cut off.
    private static func data(base64 text: String) -> Data? {
        guard let data = Data(base64Encoded: text) else { return nil }
        let last = data.suffix(data.count % 3)
        return last.isEmpty || text.hasSuffix(last.base64EncodedString()) ? data : nil
    }

    private static func decimal(_ text: String) -> NSDecimalNumber? {
        text == "NaN" ? .notANumber : DecimalDigits(text)?.decimal.map { NSDecimalNumber(decimal: $0) }
    }

    // MARK: Transformables

    /// The prefix before a transformable's bytes in base 64.
    private static let dataPrefix = "@data:"

    /// Writes a transformable's bytes as its store keeps them, since the tool has neither the program's classes nor its transformers. A plain text,
    /// whose archive is the same everywhere, is written as it is.
    static func json(_ value: Any?, transformable attribute: NSAttributeDescription, bytes: Data) -> JSONValue {
        if attribute.isArchived, let text = value as? String, !text.hasPrefix(dataPrefix) { return .text(text) }
        return .text(dataPrefix + bytes.base64EncodedString())
    }

    /// The bytes behind the prefix; nil for a plain text.
    /// - Throws: if the text behind the prefix is not base 64.
    static func data(_ text: String, transformable attribute: NSAttributeDescription) throws -> Data? {
        guard text.hasPrefix(dataPrefix) else {
            guard attribute.isArchived else {
                throw ToolError.failure("\(attribute.name) has a value transformer of the program's own: it takes \(dataPrefix) and base 64")
            }
            return nil
        }
        guard let data = data(base64: String(text.dropFirst(dataPrefix.count))) else {
            throw ToolError.failure("\(attribute.name): the text after \(dataPrefix) is not base 64")
        }
        return data
    }

    // MARK: Writing

    /// The form of a value in JSON.
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

    /// The form of a value in CSV.
    static func text(_ value: Any) -> String { text(json(value)) }

    static func text(_ value: JSONValue) -> String {
        switch value {
        case .text(let text): text
        case .integer(let number): "\(number)"
        // NaN may have a sign and a payload, which its text leaves out.
        case .double(let number): number.isNaN ? "nan" : "\(number)"
        case .bool(let flag): "\(flag)"
        case .list(let list): list.map(text).joined(separator: ";")
        // A reference: CSV has only the label.
        case .object(let members): members[Record.labelName].map(text) ?? ""
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
        case .dateAttributeType: "a date (ISO 8601, as 2024-02-29T12:30:00Z, or seconds since 1970)"
        case .UUIDAttributeType: "a UUID"
        case .URIAttributeType: "a URI"
        case .binaryDataAttributeType: "data (base 64)"
        case .transformableAttributeType: "a text, or @data: and base 64"
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType:
            "of a type that text files cannot hold"
        }
    }

    static func describe(_ value: RecordValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let number): DisplayWidth.printable(String(number.text.prefix(60)))
        case .text(let text): "\"\(DisplayWidth.printable(String(text.prefix(60))))\""
        case .list: "a list"
        case .object: "an object"
        }
    }
}
