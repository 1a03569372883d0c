import Foundation

@testable import Heartwood

/// A kind of column in a combined model, with a value for each state and a text by which values are compared.
enum AttributeKind: String, CaseIterable {
    case integer16, integer32, integer64, float, double, decimal, boolean, date, string, uri, uuid, data, external, transformable, composite
    /// A text under a uniqueness constraint.
    case code
    /// A to-one relationship; its values are the labels of targets.
    case reference

    var type: NSAttributeType {
        switch self {
        case .integer16: .integer16AttributeType
        case .integer32: .integer32AttributeType
        case .integer64: .integer64AttributeType
        case .float: .floatAttributeType
        case .double: .doubleAttributeType
        case .decimal: .decimalAttributeType
        case .boolean: .booleanAttributeType
        case .date: .dateAttributeType
        case .string, .code: .stringAttributeType
        case .uri: .URIAttributeType
        case .uuid: .UUIDAttributeType
        case .data, .external: .binaryDataAttributeType
        case .transformable: .transformableAttributeType
        case .composite: .compositeAttributeType
        case .reference: .objectIDAttributeType
        }
    }

    /// Whether a predicate may compare a value of the kind with a constant.
    var isComparable: Bool { self != .transformable && self != .composite && self != .reference && self != .external }
    /// Whether rows can be ordered by it.
    var isOrdered: Bool { isComparable && self != .data && self != .uri && self != .uuid }

    // MARK: Values

    /// The value of a state. Each column has its own texts and bytes, so that a value in a wrong column is detected.
    /// - Parameter number: the case's number, which ends unique values.
    func value(_ state: ValueState, _ name: String, _ number: Int) -> Any? {
        guard state != .absent, state != .initial else { return nil }
        let index = state.rawValue
        switch self {
        case .integer16: return [0, 0, 1, 2, 300, 30_000, Int(Int16.min)][index]
        case .integer32: return [0, 0, 1, 2, 300, 70_000, Int(Int32.min)][index]
        case .integer64: return [0, 0, 1, 2, 300, 5_000_000_000, Int.min][index]
        case .float: return [0, 0, 1.5, 2.5, 300, -70_000, Float.greatestFiniteMagnitude][index] as Float
        case .double: return [0, 0, 1.5, 2.5, 300, -70_000, Double.greatestFiniteMagnitude][index] as Double
        case .decimal: return NSDecimalNumber(string: ["0", "0", "1.5", "2.5", "300", "12345678901234567890.5", "-0.000001"][index])
        case .boolean: return [false, false, true, false, true, false, true][index]
        case .date: return Date(timeIntervalSinceReferenceDate: [0, 0, 1.5, 2.5, 300, 7e9, -1e11][index])
        case .string: return Self.text(state, name)
        case .code: return "\(Self.text(state, name))#\(number)"
        case .uri: return URL(string: state == .empty ? "a:" : "https://\(name)/" + Self.text(state, "p", letters: .alphanumerics))
        case .uuid: return UUID(uuid: (UInt8(index - 1), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(index - 1)))
        case .data, .external: return state == .extreme ? Data([0, 255, 0]) + Data(name.utf8) : Data(Self.text(state, name).utf8)
        case .transformable: return (state == .empty ? [] : ["list", Self.text(state, name)]) as NSArray
        case .composite:
            switch state {
            case .empty: return ["city": ""]
            case .other: return ["x": 2.5]
            case .long: return ["city": Self.text(.long, name)]
            default: return ["city": Self.text(state, name), "x": Double(index)] as [String: Any]
            }
        case .reference: return state == .other || state == .huge ? "1" : "0"
        }
    }

    private static let long = String(repeating: "l", count: 300), huge = String(repeating: "h", count: 70_000)

    private static func text(_ state: ValueState, _ name: String) -> String {
        switch state {
        case .absent, .empty, .initial: ""
        case .short: "\(name) short"
        case .other: "other \(name)"
        case .long: name + long
        case .huge: name + huge
        case .extreme: "é𝄞\u{0}\(name)"
        }
    }

    private static func text(_ state: ValueState, _ name: String, letters: CharacterSet) -> String {
        String(String.UnicodeScalarView(text(state, name).unicodeScalars.filter(letters.contains)))
    }

    // MARK: Comparison

    /// A value as text; equal values of the kind have equal texts.
    func plain(_ value: Any?) -> String {
        guard let value, !(value is NSNull) else { return "nil" }
        switch self {
        case .integer16, .integer32, .integer64: return (value as? NSNumber).map { "\($0.int64Value)" } ?? "\(value)?"
        case .float, .double: return (value as? NSNumber).map { "\($0.doubleValue)" } ?? "\(value)?"
        case .boolean: return (value as? NSNumber).map { "\($0.boolValue)" } ?? "\(value)?"
        case .date: return (value as? Date).map { "\($0.timeIntervalSinceReferenceDate)" } ?? "\(value)?"
        case .decimal: return (value as? NSNumber).map { "\($0.decimalValue)" } ?? "\(value)?"
        case .uri: return (value as? URL).map { Self.abridged($0.absoluteString) } ?? "\(value)?"
        case .uuid: return (value as? UUID)?.uuidString ?? "\(value)?"
        case .string, .code: return (value as? String).map { "'\(Self.abridged($0))'" } ?? "\(value)?"
        case .data, .external:
            return (value as? Data).map { "\($0.count) bytes " + Self.abridged(String(decoding: $0, as: UTF8.self)) } ?? "\(value)?"
        case .transformable:
            return (value as? [String]).map { "\($0.count) texts " + $0.map(Self.abridged).joined(separator: ",") } ?? "\(value)?"
        case .composite:
            guard let elements = value as? [String: Any] else { return "\(value)?" }
            return elements.keys.sorted().map { key in
                "\(key)=" + ((elements[key] as? String).map(Self.abridged) ?? "\((elements[key] as? NSNumber)?.doubleValue ?? .nan)")
            }.joined(separator: " ")
        case .reference: return (value as? NSManagedObject)?.value(forKey: "label") as? String ?? value as? String ?? "\(value)?"
        }
    }

    /// A long text as its length, its ends and a hash of all its bytes.
    private static func abridged(_ text: String) -> String {
        guard text.utf8.count > 100 else { return text }
        var text = text
        let hash = text.withUTF8 { bytes in
            var hasher = Hasher()
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
            return hasher.finalize()
        }
        return "\(text.prefix(6))…\(text.suffix(6)) of \(text.utf8.count), \(hash)"
    }
}
