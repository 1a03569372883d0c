/// A value of an attribute or of a column. Null is nil.
///
/// Doubles are compared by their bits, so that -0 differs from 0, NaN equals itself, and JSON can hold any of them.
package enum SampleValue: Hashable, Sendable, Codable {
    case flag(Bool), integer(Int64), double(bits: UInt64), uuid(UInt64, UInt64), text(String), bytes([UInt8])

    package static func double(_ value: Double) -> SampleValue { .double(bits: value.bitPattern) }
}
