import Foundation

/// Converts an attribute's stored form to the object that key-value coding returns.
enum AttributeCoding {
    static func object(_ value: ManagedValue, property: @autoclosure () -> NSPropertyDescription, kind: PropertyKind) -> Any? {
        if kind == .transformable, case .data(let bytes) = value { return AttributeTransformer.object(bytes, of: property()) }
        return value.attributeObject(kind: kind)
    }

    /// The value as an Objective-C style object.
    static func bridged(_ value: Any) -> AnyObject {
        switch value {
        case let text as String: NSString(string: text)
        case let date as Date: NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let data as Data: NSData(data: data)
        case let other: other as AnyObject
        }
    }

    static func mismatch(_ value: Any?, _ name: String, _ kind: PropertyKind, entity: NSEntityDescription) -> String {
        if kind.isNumber, let number = value as? NSNumber {
            return "Unacceptable value for \(entity.name ?? "?").\(name): \(number) does not fit a number of type "
                + "\(kind.displayName)."
        }
        let given = value.map { "\(type(of: $0))" } ?? "nil"
        return "Unacceptable type of value for \(entity.name ?? "?").\(name): "
            + "it is \(kind.displayName), the value is \(given) (\(ValueText.of(value)))."
    }
}

extension PropertyKind {
    fileprivate var isNumber: Bool {
        switch self {
        case .int16, .int32, .int64, .float, .double, .decimal: true
        default: false
        }
    }

    /// The type's name in model editors.
    var displayName: String {
        switch self {
        case .bool: "Boolean"
        case .int16: "Integer 16"
        case .int32: "Integer 32"
        case .int64: "Integer 64"
        case .float: "Float"
        case .double: "Double"
        case .decimal: "Decimal"
        case .string: "String"
        case .date: "Date"
        case .data, .externalData: "Binary Data"
        case .uuid: "UUID"
        case .uri: "URI"
        case .transformable: "Transformable"
        case .objectID: "Object ID"
        case .undefined: "Undefined"
        case .toOne: "a to-one relationship"
        case .toMany: "a to-many relationship"
        }
    }
}
