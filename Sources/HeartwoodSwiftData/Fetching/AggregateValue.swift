import Foundation
import Heartwood

/// A type of properties that have a least and a greatest value: numbers, texts and dates, and optionals of them.
public protocol _AggregateOperand: _PersistentScalar {
    /// The type without its optional.
    associatedtype _Operand: _PersistentScalar & Comparable = Self
    var _operand: _Operand? { get }
}

extension _AggregateOperand where _Operand == Self {
    public var _operand: Self? { self }
}

/// A number, which has sums and means.
public protocol _AggregateNumber: _AggregateOperand, Numeric, Comparable where _Operand == Self {
    var _double: Double { get }
    /// - Throws: 1610 for a sum that the type does not have.
    static func _sum(_ values: [Self]) throws -> Self
    /// The sum that a store has computed.
    static func _sum(stored: Any) throws -> Self?
}

extension _AggregateNumber where Self: _PersistentInteger {
    public var _double: Double { Double(self) }

    public static func _sum(_ values: [Self]) throws -> Self {
        var total: Self = 0
        for value in values {
            let (sum, isOverflow) = total.addingReportingOverflow(value)
            guard !isOverflow else { throw tooLarge }
            total = sum
        }
        return total
    }

    /// The store's sum is a fraction where it is larger than 64 bits.
    public static func _sum(stored: Any) throws -> Self? {
        guard let number = stored as? NSNumber else { return nil }
        let isWhole = ![UInt8(ascii: "d"), UInt8(ascii: "f")].contains(UInt8(bitPattern: number.objCType.pointee))
        guard isWhole || Double(Int64.min)..<Double(Int64.max) ~= number.doubleValue, let value = Self(exactly: number.int64Value)
        else { throw tooLarge }
        return value
    }

    private static var tooLarge: CocoaError {
        CocoaError(.validationNumberTooLarge, userInfo: [NSLocalizedDescriptionKey: "The sum does not fit \(Self.self). Use a wider type."])
    }
}

extension _AggregateNumber {
    public static func _sum(_ values: [Self]) throws -> Self { values.reduce(0, +) }
    public static func _sum(stored: Any) throws -> Self? { Self(_object: stored) }
}

extension Int: _AggregateNumber {}
extension Int8: _AggregateNumber {}
extension Int16: _AggregateNumber {}
extension Int32: _AggregateNumber {}
extension Int64: _AggregateNumber {}
extension UInt8: _AggregateNumber {}
extension UInt16: _AggregateNumber {}
extension UInt32: _AggregateNumber {}
extension Double: _AggregateNumber { public var _double: Double { self } }
extension Float: _AggregateNumber { public var _double: Double { Double(self) } }
extension Decimal: _AggregateNumber { public var _double: Double { NSDecimalNumber(decimal: self).doubleValue } }
extension String: _AggregateOperand {}
extension Date: _AggregateOperand {}

extension Optional: _AggregateOperand where Wrapped: _AggregateOperand {
    public var _operand: Wrapped._Operand? { self?._operand }
}
