import Foundation
import Heartwood

/// Converts between attribute values and their form in text files: dates in ISO 8601, data in base 64, the rest as it is.
enum AttributeText {
    /// The value for key-value coding that a value from a file stands for.
    /// - Throws: if the value is of another type.
    static func value(_ value: RecordValue, for attribute: NSAttributeDescription) throws -> Any? {
        if case .null = value { return nil }
        let form = AttributeTextForm(attribute.attributeType)
        let found: Any? = switch value {
        case .text(let text): form.text(text)
        case .number(let number): form.number(number)
        case .bool(let flag): attribute.attributeType == .booleanAttributeType ? flag : nil
        case .null, .list, .object: nil
        }
        if let found { return found }
        throw ToolError.failure("\(attribute.name) is \(form.description), and \(describe(value)) does not fit")
    }

    /// Sets an attribute to the value that a value from a file stands for.
    /// - Throws: if the value is of another type.
    static func assign(_ value: RecordValue, to attribute: NSAttributeDescription, of object: NSManagedObject) throws {
        guard attribute.attributeType == .transformableAttributeType, case .text(let text) = value else {
            return try object.assign(try Self.value(value, for: attribute), to: attribute)
        }
        if let bytes = try data(text, transformable: attribute) {
            object.setStoredData(bytes, of: attribute)
        } else {
            try object.assign(NSString(string: text), to: attribute)
        }
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
        guard let data = AttributeTextForm.data(base64: String(text.dropFirst(dataPrefix.count))) else {
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
        case let id as NSManagedObjectID: .text(id.text)
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
