import Foundation

/// The conversion of an attribute's values to the next version's type, in a migration without a mapping model.
package enum AttributeConversion: Equatable {
    /// The values stay as they are.
    case none
    /// Converts between number types, booleans included, as `NSNumber` does. A whole number loses the fraction, a float takes the nearest value.
    /// A value that does not fit ends the migration.
    case number
    /// Bytes that move into or out of the external storage for large values.
    case external

    /// - Returns: nil if values cannot be converted between these types.
    package init?(from old: NSAttributeDescription, to new: NSAttributeDescription) {
        let before = PropertyKind(old), after = PropertyKind(new)
        switch (before, after) {
        case _ where before == after: self = .none
        case _ where before.codec?.number != nil && after.codec?.number != nil: self = .number
        case (.data, .externalData), (.externalData, .data): self = .external
        default: return nil
        }
    }
}

extension AttributeConversion {
    /// Converts a value of the old attribute.
    /// - Returns: nil if the value does not fit.
    func apply(_ value: ManagedValue, to kind: PropertyKind) -> ManagedValue? {
        guard self == .number, let convert = kind.codec?.convert else { return value }
        return convert(value)
    }
}

extension ManagedValue {
    var isTrue: Bool? {
        switch self {
        case .decimal(let number): number != 0
        case .double(let number): number != 0
        default: integer.map { $0 != 0 }
        }
    }

    /// The value without its fraction.
    var wholeNumber: Int64? {
        switch self {
        case .double(let number): return Int64(exactly: number.rounded(.towardZero))
        case .decimal(let number):
            var value = number.decimalValue, whole = Decimal()
            guard !value.isNaN else { return nil }
            NSDecimalRound(&whole, &value, 0, value.isSignMinus ? .up : .down)
            return Int64(whole.description)
        default: return integer
        }
    }

    var nearestDouble: Double? {
        switch self {
        case .double(let number): number
        case .decimal(let number): number.doubleValue
        default: integer.map(Double.init)
        }
    }

    /// For a double, the shortest decimal that parses back to it.
    var nearestDecimal: NSDecimalNumber? {
        switch self {
        case .decimal(let number): return number
        case .double(let number):
            guard number.isFinite, let decimal = Decimal(string: number.description), !decimal.isNaN else { return nil }
            return NSDecimalNumber(decimal: decimal)
        default: return integer.map { NSDecimalNumber(decimal: Decimal($0)) }
        }
    }
}
