import RecordLog

/// Identifies an object within one coordinator in one word. The high 16 bits are the slot of its entity and store, the low 48 the row number.
/// A coordinator gives each store its own range of slots, so keys of different stores never collide.
///
/// Bit 47 marks a temporary key: the object has no row yet, and a counter of its context's tree gives the number.
package struct ObjectKey: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let temporaryBit: UInt64 = 1 << 47
    static let rowMask: UInt64 = (1 << 48) - 1

    static let none = ObjectKey(rawValue: 0)

    package init(slot: UInt16, row: UInt64) {
        rawValue = UInt64(slot) << 48 | (row & Self.rowMask)
    }

    package var slot: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }
    package var row: UInt64 { rawValue & Self.rowMask }
    package var isNone: Bool { rawValue & Self.rowMask == 0 }
    package var isTemporary: Bool { rawValue & Self.temporaryBit != 0 }
}
