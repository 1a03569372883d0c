import Foundation

/// How the values of an attribute become those of another version of it, without a mapping that somebody wrote.
enum AttributeConversion: Equatable {
    /// As they are.
    case none
    /// Numbers of another type, booleans among them: what `NSNumber` makes of one. A whole number has no fraction, a float the nearest value. One
    /// that does not fit ends the migration.
    case number
    /// Bytes that go to or come from where large values are.
    case external

    private static let numbers: Set<PropertyKind> = [.bool, .int16, .int32, .int64, .float, .double, .decimal]

    /// - Returns: nil where no value of the one is a value of the other.
    init?(from old: NSAttributeDescription, to new: NSAttributeDescription) {
        let before = PropertyKind(old), after = PropertyKind(new)
        switch (before, after) {
        case _ where before == after: self = .none
        case _ where Self.numbers.isSuperset(of: [before, after]): self = .number
        case (.data, .externalData), (.externalData, .data): self = .external
        default: return nil
        }
    }
}

extension AttributeConversion {
    /// A value of the one as a value of the other.
    /// - Returns: nil where it does not fit.
    func apply(_ value: ManagedValue, to kind: PropertyKind) -> ManagedValue? {
        guard self == .number else { return value }
        return switch kind {
        case .bool: value.isTrue.map(ManagedValue.bool)
        case .int16: value.wholeNumber.flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
        case .int32: value.wholeNumber.flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
        case .int64: value.wholeNumber.map(ManagedValue.integer)
        case .float: value.nearestDouble.map { .double(Double(Float($0))) }
        case .double: value.nearestDouble.map(ManagedValue.double)
        case .decimal: value.nearestDecimal.map(ManagedValue.decimal)
        default: value
        }
    }
}

extension ManagedValue {
    fileprivate var isTrue: Bool? {
        switch self {
        case .decimal(let number): number != 0
        case .double(let number): number != 0
        default: integer.map { $0 != 0 }
        }
    }

    /// Without the fraction.
    fileprivate var wholeNumber: Int64? {
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

    fileprivate var nearestDouble: Double? {
        switch self {
        case .double(let number): number
        case .decimal(let number): number.doubleValue
        default: integer.map(Double.init)
        }
    }

    /// A double has the digits that tell it from its neighbours.
    fileprivate var nearestDecimal: NSDecimalNumber? {
        switch self {
        case .decimal(let number): return number
        case .double(let number):
            guard number.isFinite, let decimal = Decimal(string: number.description), !decimal.isNaN else { return nil }
            return NSDecimalNumber(decimal: decimal)
        default: return integer.map { NSDecimalNumber(decimal: Decimal($0)) }
        }
    }
}
