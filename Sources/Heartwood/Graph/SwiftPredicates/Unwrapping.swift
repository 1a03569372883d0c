import Foundation

/// Unwraps optionals and enumerations of values and types that are known only at run time.
package enum Unwrapping {
    /// - Returns: nil for an optional without a value, at any depth.
    package static func value(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalValue else { return value }
        return optional.content.flatMap(Self.value)
    }

    /// The raw value of an enumeration's case; any other value unchanged.
    static func rawValue(_ value: Any?) -> Any? {
        guard let value = value.flatMap(Self.value) else { return nil }
        guard isEnumeration(type(of: value)), let representable = value as? any RawRepresentable else { return value }
        return representable.rawValue
    }

    /// Whether the type, or the type that it wraps, is an enumeration with raw values.
    static func isEnumeration(_ type: Any.Type) -> Bool { wrapped(type) is any RawRepresentable.Type }

    static func isUnsigned(_ type: Any.Type) -> Bool { wrapped(type) is any UnsignedInteger.Type }

    package static func wrapped(_ type: Any.Type) -> Any.Type { (type as? any OptionalValue.Type)?.wrappedType ?? type }
}

/// An optional whose wrapped type is known only at run time.
package protocol OptionalValue: ExpressibleByNilLiteral {
    static var wrappedType: Any.Type { get }
    var content: Any? { get }
}

extension Optional: OptionalValue {
    package static var wrappedType: Any.Type { Wrapped.self }
    package var content: Any? { self }
}
