/// A set of a layout's columns, by their positions. Positions from 63 on share one bit.
public struct ColumnSet: Sendable, Equatable {
    private var bits: UInt64

    private init(bits: UInt64) {
        self.bits = bits
    }

    public static let none = ColumnSet(bits: 0)
    public static let all = ColumnSet(bits: .max)

    @inline(__always)
    mutating func insert(_ position: Int) { bits |= 1 << UInt64(min(position, 63)) }

    mutating func formUnion(_ other: ColumnSet) { bits |= other.bits }

    @inline(__always)
    func isDisjoint(with other: ColumnSet) -> Bool { bits & other.bits == 0 }
}
