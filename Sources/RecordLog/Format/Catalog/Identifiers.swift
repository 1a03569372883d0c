/// Identifies a table within one store. Table 0 is the system table.
@frozen
public struct TableID: RawRepresentable, Hashable, Sendable, Comparable {
    public let rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Holds the catalog and the values that a client stores by number (`Transaction.setSystemValue`).
    public static let system = TableID(rawValue: 0)

    @inlinable
    public static func < (a: TableID, b: TableID) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies an index within one store. The ID of a dropped index is never used again.
@frozen
public struct IndexID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}

/// Identifies a column within its table, in all of the table's layouts.
@frozen
public struct ColumnID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}

/// Identifies one layout of a table's rows. A row names the layout that it was written with.
@frozen
public struct LayoutID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}

/// Identifies a row: its table in the high 16 bits, its number in the low 48. Numbers start at 1; a raw value of 0 means no row.
@frozen
public struct RowReference: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    @inlinable
    public init(table: TableID, row: UInt64) {
        rawValue = UInt64(table.rawValue) << 48 | (row & Self.rowMask)
    }

    /// The highest row number.
    public static let rowMask: UInt64 = (1 << 48) - 1

    @inlinable
    public var table: TableID { TableID(rawValue: UInt16(truncatingIfNeeded: rawValue >> 48)) }

    @inlinable
    public var row: UInt64 { rawValue & Self.rowMask }

    @inlinable
    public var isNone: Bool { rawValue == 0 }
}
