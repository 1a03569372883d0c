import Foundation
import Heartwood

/// The form of one type's values in text files.
struct AttributeTextForm {
    /// The form that a file should have, for messages.
    let description: String
    /// The value that a text stands for; nil if it is none of the type's.
    let text: (String) -> Any?
    /// The value that a number of JSON stands for; nil if it is none of the type's.
    let number: (JSONNumber) -> Any?

    private init(_ description: String, number: @escaping (JSONNumber) -> Any? = { _ in nil }, text: @escaping (String) -> Any?) {
        self.description = description
        self.text = text
        self.number = number
    }

    init(_ type: NSAttributeType) {
        self = switch type {
        case .stringAttributeType: Self("text") { $0 }
        case .integer16AttributeType: Self.whole("a 16-bit integer", Int16.self)
        case .integer32AttributeType: Self.whole("a 32-bit integer", Int32.self)
        case .integer64AttributeType: Self.whole("a 64-bit integer", Int64.self)
        case .doubleAttributeType: Self.fraction("a number") { FloatText.value($0, as: Double.self) }
        case .floatAttributeType: Self.fraction("a number") { FloatText.value($0, as: Float.self) }
        case .decimalAttributeType: Self.fraction("a decimal number", Self.decimal)
        case .booleanAttributeType: Self("true or false", number: Self.flag) { Self.flags[$0.lowercased()] }
        case .dateAttributeType:
            Self(
                "a date (ISO 8601, as 2024-02-29T12:30:00Z, or seconds since 1970)", number: { DateText.date(seconds: $0.text) },
                text: { DateText.date($0) })
        case .UUIDAttributeType: Self("a UUID") { UUID(uuidString: $0) }
        case .URIAttributeType: Self("a URI", text: Self.uri)
        case .binaryDataAttributeType: Self("data (base 64)") { Self.data(base64: $0) }
        case .transformableAttributeType: Self("a text, or @data: and base 64") { _ in nil }
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType:
            Self("of a type that text files cannot hold") { _ in nil }
        }
    }

    /// The constants that a person compares an attribute with.
    enum Comparison {
        case text, date, wholeNumber, number
        /// Texts that are values of the type alone.
        case ownTexts
        /// Nothing: its elements are compared.
        case elements
        case anything
    }

    static func comparison(_ type: NSAttributeType) -> Comparison {
        switch type {
        case .stringAttributeType: .text
        case .dateAttributeType: .date
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: .wholeNumber
        case .doubleAttributeType, .floatAttributeType, .decimalAttributeType, .booleanAttributeType: .number
        case .UUIDAttributeType, .URIAttributeType, .binaryDataAttributeType: .ownTexts
        case .compositeAttributeType: .elements
        case .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType: .anything
        }
    }

    private static func whole<Integer: FixedWidthInteger>(_ description: String, _: Integer.Type) -> Self {
        Self(description, number: { $0.digits?.integer.flatMap { Integer(exactly: $0) } }, text: { Integer($0) })
    }

    private static func fraction(_ description: String, _ parse: @escaping (String) -> Any?) -> Self {
        Self(description, number: { parse($0.text) }, text: parse)
    }

    private static func decimal(_ text: String) -> NSDecimalNumber? {
        text == "NaN" ? .notANumber : DecimalDigits(text)?.decimal.map { NSDecimalNumber(decimal: $0) }
    }

    private static let flags = ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false]

    private static func flag(_ number: JSONNumber) -> Bool? {
        guard let integer = number.digits?.integer, integer == 0 || integer == 1 else { return nil }
        return integer == 1
    }

    /// - Returns: nil for a text that Foundation would change, by escapes or another host, to make a URI of it.
    private static func uri(_ text: String) -> URL? {
        URL(string: text, encodingInvalidCharacters: false).flatMap { $0.absoluteString == text ? $0 : nil }
    }

    /// - Returns: nil also where bits of the last character are lost: another text has the same bytes, so this one may be cut off.
    static func data(base64 text: String) -> Data? {
        guard let data = Data(base64Encoded: text) else { return nil }
        let last = data.suffix(data.count % 3)
        return last.isEmpty || text.hasSuffix(last.base64EncodedString()) ? data : nil
    }
}
