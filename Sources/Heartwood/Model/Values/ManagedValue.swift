import Foundation
import RecordLog

/// The value of one property in a changed or inserted object. `unset` means that the row's value counts.
package enum ManagedValue {
    case unset
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    /// Seconds since 2001-01-01 UTC.
    case date(Double)
    case text(String)
    case data(Data)
    case uuid(UUID)
    case decimal(NSDecimalNumber)
    case url(URL)
    /// A transformable's value, or a number that does not fit its attribute, which no save takes.
    case object(AnyObject)
    /// A to-one relationship.
    case reference(ObjectKey)
    /// A to-many relationship that was read or changed.
    case toMany(ToManyState)

    package var isUnset: Bool {
        if case .unset = self { return true }
        return false
    }

    package var isNull: Bool {
        switch self {
        case .null: true
        case .reference(let key): key.isNone
        default: false
        }
    }

    /// An integer, or a boolean as 0 or 1.
    var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .bool(let flag): flag ? 1 : 0
        case .object(let object): (object as? NSNumber)?.int64Value
        default: nil
        }
    }

    /// A double, or a date's seconds.
    var double: Double? {
        switch self {
        case .double(let number), .date(let number): number
        case .object(let object): (object as? NSNumber)?.doubleValue
        default: nil
        }
    }

    var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// The destination of a to-one relationship; `none` for null.
    var destination: ObjectKey {
        if case .reference(let key) = self { return key }
        return .none
    }
}

extension ManagedValue {
    /// The value that key-value coding returns for an attribute. Numbers are `NSNumber`s, as on Apple's platforms.
    func attributeObject(kind: PropertyKind) -> Any? {
        switch self {
        case .unset, .null, .reference, .toMany: nil
        case .bool(let value): NSNumber(value: value)
        case .integer(let value):
            switch kind {
            case .int16: NSNumber(value: Int16(truncatingIfNeeded: value))
            case .int32: NSNumber(value: Int32(truncatingIfNeeded: value))
            default: NSNumber(value: value)
            }
        case .double(let value): kind == .float ? NSNumber(value: Float(value)) : NSNumber(value: value)
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .text(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .decimal(let value): value
        case .url(let value): value
        case .object(let value): value
        }
    }

    /// Converts a value that was passed to key-value coding.
    /// - Returns: nil if the value's type or range does not fit the attribute.
    package init?(attributeObject value: Any?, kind: PropertyKind) {
        guard let value, !(value is NSNull) else {
            self = .null
            return
        }
        switch kind {
        case .string:
            guard let text = value as? String ?? (value as? Substring).map(String.init) else { return nil }
            self = .text(text)
        case .int16, .int32, .int64:
            guard let number = ManagedValue.integer(from: value, kind: kind) else { return nil }
            self = .integer(number)
        case .bool:
            if let flag = value as? Bool {
                self = .bool(flag)
            } else if let number = ManagedValue.double(from: value) {
                self = .bool(number != 0)
            } else {
                return nil
            }
        case .double, .float:
            guard let number = ManagedValue.double(from: value) else { return nil }
            guard kind == .float else {
                self = .double(number)
                return
            }
            let short = Float(number)
            guard short.isFinite || !number.isFinite else { return nil }
            self = .double(Double(short))
        case .decimal:
            if let number = value as? NSDecimalNumber {
                self = .decimal(number)
            } else if let number = value as? Decimal {
                self = .decimal(NSDecimalNumber(decimal: number))
            } else if let number = value as? Int64 ?? (value as? Int).map(Int64.init) {
                self = .decimal(NSDecimalNumber(decimal: Decimal(number)))
            } else if let number = value as? UInt64 ?? (value as? UInt).map(UInt64.init) {
                self = .decimal(NSDecimalNumber(decimal: Decimal(number)))
            } else if let number = value as? NSNumber ?? (value as? any BinaryFloatingPoint).map({ NSNumber(value: Double($0)) }) {
                // Foundation traps at infinity, and turns numbers that are too large into NaN.
                guard !number.doubleValue.isInfinite, number.decimalValue.isNaN == number.doubleValue.isNaN else { return nil }
                self = .decimal(NSDecimalNumber(decimal: number.decimalValue))
            } else {
                return nil
            }
        case .date:
            guard let date = value as? Date else { return nil }
            self = .date(date.timeIntervalSinceReferenceDate)
        case .data, .externalData:
            guard let data = value as? Data else { return nil }
            self = .data(data)
        case .uuid:
            guard let uuid = value as? UUID else { return nil }
            self = .uuid(uuid)
        case .uri:
            guard let url = value as? URL else { return nil }
            self = .url(url)
        case .transformable, .undefined:
            self = .object(value as AnyObject)
        case .objectID, .toOne, .toMany:
            return nil
        }
    }

    private static func integer(from value: Any, kind: PropertyKind) -> Int64? {
        let wide: Int64
        switch value {
        case let number as Int: wide = Int64(number)
        case let number as Int64: wide = number
        case let number as Int32: wide = Int64(number)
        case let number as Int16: wide = Int64(number)
        case let number as Int8: wide = Int64(number)
        case let number as UInt8: wide = Int64(number)
        case let number as UInt16: wide = Int64(number)
        case let number as UInt32: wide = Int64(number)
        case let number as UInt:
            guard let exact = Int64(exactly: number) else { return nil }
            wide = exact
        case let number as UInt64:
            guard let exact = Int64(exactly: number) else { return nil }
            wide = exact
        case let number as Bool: wide = number ? 1 : 0
        case let number as Double:
            guard let exact = Int64(exactly: number.rounded(.towardZero)) else { return nil }
            wide = exact
        case let number as Float:
            guard let exact = Int64(exactly: number.rounded(.towardZero)) else { return nil }
            wide = exact
        case let number as NSNumber:
            guard let exact = Int64(exactly: number.doubleValue.rounded(.towardZero)) else { return nil }
            // A decimal has digits that a double lacks.
            wide = Swift.abs(exact) < 1 << 53 ? exact : number.int64Value
        case let number as Decimal: return integer(from: NSDecimalNumber(decimal: number), kind: kind)
        case let number as any BinaryFloatingPoint:
            guard let exact = Int64(exactly: Double(number).rounded(.towardZero)) else { return nil }
            wide = exact
        default: return nil
        }
        switch kind {
        case .int16: return Int16(exactly: wide).map(Int64.init)
        case .int32: return Int32(exactly: wide).map(Int64.init)
        default: return wide
        }
    }

    private static func double(from value: Any) -> Double? {
        switch value {
        case let number as Double: number
        case let number as Float: Double(number)
        case let number as NSNumber: number.doubleValue
        case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
        case let number as any BinaryFloatingPoint: Double(number)
        default: integer(from: value, kind: .int64).map(Double.init)
        }
    }
}

extension ManagedValue {
    /// Whether two values of one property are stored alike. A store keeps a number's bits, so -0 differs from 0, and NaN equals itself.
    package func isEqual(to other: ManagedValue) -> Bool {
        switch (self, other) {
        case (.unset, .unset), (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)): a.bitPattern == b.bitPattern
        case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.decimal(let a), .decimal(let b)): a == b
        case (.url(let a), .url(let b)): a == b
        case (.object(let a), .object(let b)): a === b
        case (.reference(let a), .reference(let b)): a == b
        default: isNull && other.isNull
        }
    }
}
