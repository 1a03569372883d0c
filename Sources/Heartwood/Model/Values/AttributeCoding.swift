import Foundation

/// Converts an attribute's stored form to the object that key-value coding returns.
package enum AttributeCoding {
    package static func object(_ value: ManagedValue, property: @autoclosure () -> NSPropertyDescription, kind: PropertyKind) -> Any? {
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

    /// The value as a number, if it is one that a number's attribute does not hold.
    static func unfitNumber(_ value: Any?, _ kind: PropertyKind) -> NSNumber? {
        guard kind.isArithmetic, let value, !(value is NSNull) else { return nil }
        if let number = value as? NSNumber { return number }
        if let number = value as? Decimal { return NSDecimalNumber(decimal: number) }
        return (value as? any BinaryFloatingPoint).map { NSNumber(value: Double($0)) }
    }

    /// The code of validation for a number that the attribute does not hold.
    static func unfitCode(_ number: NSNumber) -> Int {
        let value = number.doubleValue
        return value.isNaN ? NSManagedObjectValidationError : value > 0 ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError
    }

    static func mismatch(_ value: Any?, _ name: String, _ kind: PropertyKind, entity: NSEntityDescription) -> String {
        if let number = unfitNumber(value, kind) {
            return "Unacceptable value for \(entity.name ?? "?").\(name): \(number) does not fit a number of type "
                + "\(kind.displayName)."
        }
        let given = value.map { "\(type(of: $0))" } ?? "nil"
        return "Unacceptable type of value for \(entity.name ?? "?").\(name): "
            + "it is \(kind.displayName), the value is \(given) (\(ValueText.of(value)))."
    }
}
