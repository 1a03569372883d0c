import Foundation
import Heartwood

/// The default values of attributes as code.
enum SwiftLiteral {
    /// - Parameter names: how code spells the types.
    /// - Returns: nil where code has no literal of the value.
    static func of(_ value: Any, _ type: NSAttributeType, _ names: SwiftTypeNames) -> String? {
        switch type {
        case .booleanAttributeType: (value as? NSNumber).map { $0.boolValue ? "true" : "false" }
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: (value as? NSNumber).map { "\($0.int64Value)" }
        case .doubleAttributeType, .floatAttributeType: (value as? NSNumber).flatMap { number($0.doubleValue, isFloat: type == .floatAttributeType) }
        case .decimalAttributeType: (value as? NSNumber).map { "\(names.foundation("Decimal"))(string: \"\($0.decimalValue)\") ?? 0" }
        case .stringAttributeType: (value as? String).map(text)
        case .dateAttributeType:
            (value as? Date).flatMap { number($0.timeIntervalSinceReferenceDate, isFloat: false) }
                .map { "\(names.foundation("Date"))(timeIntervalSinceReferenceDate: \($0))" }
        case .UUIDAttributeType:
            (value as? UUID).map { "\(names.foundation("UUID"))(uuidString: \"\($0.uuidString)\") ?? \(names.foundation("UUID"))()" }
        case .URIAttributeType:
            (value as? URL).map {
                "\(names.foundation("URL"))(string: \(text($0.absoluteString))) ?? \(names.foundation("URL"))(fileURLWithPath: \"/\")"
            }
        case .binaryDataAttributeType:
            (value as? Data).map { data in
                data.isEmpty
                    ? "\(names.foundation("Data"))()"
                    : "\(names.foundation("Data"))(base64Encoded: \"\(data.base64EncodedString())\") ?? \(names.foundation("Data"))()"
            }
        default: nil
        }
    }

    private static func number(_ value: Double, isFloat: Bool) -> String? {
        guard value.isFinite else { return nil }
        return isFloat ? "\(Float(value))" : "\(value)"
    }

    /// The text in quotes, on one line.
    static func text(_ value: String) -> String {
        let scalars = value.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\\", "\"": return "\\\(scalar)"
            case _ where [.control, .format, .lineSeparator, .paragraphSeparator, .surrogate].contains(scalar.properties.generalCategory):
                return "\\u{\(String(scalar.value, radix: 16))}"
            default: return String(scalar)
            }
        }
        return "\"\(scalars.joined())\""
    }
}

/// How code spells types of the standard library and of Foundation: with their module where a generated class has a type's name.
struct SwiftTypeNames {
    private let taken: Set<String>

    init(taken: Set<String>) { self.taken = taken }

    func standard(_ name: String) -> String { taken.contains(name) ? "Swift.\(name)" : name }
    func foundation(_ name: String) -> String { taken.contains(name) ? "Foundation.\(name)" : name }

    /// The type of a scalar attribute; nil for another one.
    func scalar(_ type: NSAttributeType) -> String? {
        switch type {
        case .integer16AttributeType: standard("Int16")
        case .integer32AttributeType: standard("Int32")
        case .integer64AttributeType: standard("Int")
        case .doubleAttributeType: standard("Double")
        case .floatAttributeType: standard("Float")
        case .booleanAttributeType: standard("Bool")
        case .stringAttributeType: standard("String")
        case .decimalAttributeType: foundation("Decimal")
        case .dateAttributeType: foundation("Date")
        case .binaryDataAttributeType: foundation("Data")
        case .UUIDAttributeType: foundation("UUID")
        case .URIAttributeType: foundation("URL")
        default: nil
        }
    }
}
