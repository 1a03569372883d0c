import Foundation
import RecordLog

extension String: PlainValue {
    package static func takes(_ kind: PropertyKind) -> Bool { kind == .string }

    @inline(__always)
    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> String? { String(stored: row.bytes(access)) }

    package static func of(_ value: PredicateValue) -> String? {
        if case .text(let text) = value { return text }
        return nil
    }
}

extension Bool: PlainValue {
    package static func takes(_ kind: PropertyKind) -> Bool { kind == .bool }

    @inline(__always)
    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> Bool? { row.int64(access) != 0 }

    package static func of(_ value: PredicateValue) -> Bool? {
        switch value {
        case .bool(let flag): flag
        case .integer(let number): number != 0
        default: nil
        }
    }
}

/// Integers of every width. One that a value exceeds is refused when it is read.
protocol PlainInteger: PlainValue, FixedWidthInteger {}

extension PlainInteger {
    package static func takes(_ kind: PropertyKind) -> Bool { kind.codec?.number == .whole || kind == .bool }

    @inline(__always)
    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> Self? { Self(exactly: row.int64(access)) }

    package static func of(_ value: PredicateValue) -> Self? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): Self(exactly: number)
        // A computed whole number, as of a sum.
        case .double(let number): Self(exactly: number)
        case .decimal(let number): Int64(exactly: NSDecimalNumber(decimal: number).doubleValue).flatMap { Self(exactly: $0) }
        default: nil
        }
    }
}

extension Int: PlainInteger {}
extension Int8: PlainInteger {}
extension Int16: PlainInteger {}
extension Int32: PlainInteger {}
extension Int64: PlainInteger {}
extension UInt: PlainInteger {}
extension UInt8: PlainInteger {}
extension UInt16: PlainInteger {}
extension UInt32: PlainInteger {}
extension UInt64: PlainInteger {}

/// Floating-point numbers, also of whole numbers.
protocol PlainFraction: PlainValue, BinaryFloatingPoint {}

extension PlainFraction {
    package static func takes(_ kind: PropertyKind) -> Bool { kind.isArithmetic }

    @inline(__always)
    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> Self? {
        if kind == .double || kind == .float { return Self(row.double(access)) }
        return kind == .decimal ? Self(NSDecimalNumber(decimal: Decimal(row.decimal(access))).doubleValue) : Self(row.int64(access))
    }

    package static func of(_ value: PredicateValue) -> Self? {
        switch value {
        case .integer(let number): Self(number)
        case .double(let number): Self(number)
        case .decimal(let number): Self(NSDecimalNumber(decimal: number).doubleValue)
        default: nil
        }
    }
}

extension Double: PlainFraction {}
extension Float: PlainFraction {}

extension Date: PlainValue {
    package static func takes(_ kind: PropertyKind) -> Bool { kind == .date }

    @inline(__always)
    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> Date? {
        Date(timeIntervalSinceReferenceDate: row.double(access))
    }

    package static func of(_ value: PredicateValue) -> Date? {
        if case .date(let seconds) = value { return Date(timeIntervalSinceReferenceDate: seconds) }
        return nil
    }
}

extension UUID: PlainValue {
    package static func takes(_ kind: PropertyKind) -> Bool { kind == .uuid }

    @inline(__always)
    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> UUID? { UUID(storedBytes: row.uuid(access)) }

    package static func of(_ value: PredicateValue) -> UUID? {
        if case .uuid(let uuid) = value { return uuid }
        return nil
    }
}

extension Data: PlainValue {
    package static func takes(_ kind: PropertyKind) -> Bool { kind == .data || kind == .externalData }

    @inline(__always)
    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> Data? { Data(row.bytes(access)) }

    package static func of(_ value: PredicateValue) -> Data? {
        if case .data(let data) = value { return data }
        return nil
    }
}

extension URL: PlainValue {
    package static func takes(_ kind: PropertyKind) -> Bool { kind == .uri }
    package static var isUnfitNull: Bool { true }

    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> URL? {
        URL(string: String(stored: row.bytes(access)))
    }

    package static func of(_ value: PredicateValue) -> URL? {
        if case .url(let url) = value { return url }
        return nil
    }
}

extension Decimal: PlainValue {
    package static func takes(_ kind: PropertyKind) -> Bool { kind == .decimal || kind.codec?.number == .whole }

    package static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> Decimal? {
        kind == .decimal ? Decimal(row.decimal(access)) : Decimal(row.int64(access))
    }

    package static func of(_ value: PredicateValue) -> Decimal? {
        switch value {
        case .decimal(let number): number
        case .integer(let number): Decimal(number)
        default: nil
        }
    }
}
