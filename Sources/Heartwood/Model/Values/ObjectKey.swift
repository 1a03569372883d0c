import RecordLog

/// Names an object within one coordinator, in one word: the slot of its entity and store in the high 16 bits,
/// the row number in the low 48. A coordinator gives every store a range of slots, so the keys of two stores never meet.
///
/// Bit 47 marks a temporary key: the object has no row yet, its number comes from a counter of its context's tree.
@frozen
public struct ObjectKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    static let temporaryBit: UInt64 = 1 << 47
    static let rowMask: UInt64 = (1 << 48) - 1

    static let none = ObjectKey(rawValue: 0)

    init(slot: UInt16, row: UInt64) {
        rawValue = UInt64(slot) << 48 | (row & Self.rowMask)
    }

    var slot: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }
    var row: UInt64 { rawValue & Self.rowMask }
    var isNone: Bool { rawValue & Self.rowMask == 0 }
    var isTemporary: Bool { rawValue & Self.temporaryBit != 0 }
}
