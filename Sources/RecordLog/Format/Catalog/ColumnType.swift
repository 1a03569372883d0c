/// The type of a column's values. The numbers are stored: FORMAT.md, "Row body".
public enum ColumnType: UInt8, Sendable, CaseIterable {
    case bool = 1
    case int16 = 2
    case int32 = 3
    case int64 = 4
    case float = 5
    case double = 6
    /// A double: seconds since 2001-01-01 UTC.
    case date = 7
    case uuid = 8
    case reference = 9
    case decimal = 10
    /// UTF-8.
    case text = 16
    case bytes = 17
    /// Bytes of any length. The row holds short ones; longer ones have separate frames.
    case value = 18

    /// Bytes of the fixed slot; nil for variable columns.
    public var slotSize: Int? {
        switch self {
        case .bool: 1
        case .int16: 2
        case .int32, .float: 4
        case .int64, .double, .date, .reference: 8
        case .uuid: 16
        case .decimal: StoredDecimal.size
        case .text, .bytes, .value: nil
        }
    }
}

/// A column of a table.
public struct Column: Hashable, Sendable {
    public var id: ColumnID
    public var name: String
    public var type: ColumnType

    public init(id: ColumnID, name: String, type: ColumnType) {
        self.id = id
        self.name = name
        self.type = type
    }
}

/// The position of one column in rows of one layout. Of a column with a default, which rows of an older layout may lack, the way to it.
@frozen
public struct ColumnAccess: Sendable {
    @usableFromInline let typeCode: UInt8
    @usableFromInline let nullMask: UInt8
    /// The offset from the start of the body.
    @usableFromInline let nullByte: UInt16
    /// Fixed column: the offset from the start of the body. Variable column: its index among the variable ones.
    @usableFromInline let position: UInt16
    /// The layout's count of variable columns and the offset of their end offsets; the same in all columns of a layout.
    @usableFromInline let variableCount: UInt16
    @usableFromInline let variableTable: UInt16
    /// Only of a column with a default.
    let addressEnd: UInt16

    init(type: ColumnType, nullByte: Int, nullMask: UInt8, position: Int, variableCount: Int, variableTable: Int) {
        typeCode = type.rawValue
        self.nullByte = UInt16(nullByte)
        self.nullMask = nullMask
        self.position = UInt16(position)
        self.variableCount = UInt16(variableCount)
        self.variableTable = UInt16(variableTable)
        addressEnd = 0
    }

    /// Four of the fields as one word: of a column with a default, the address of its `DefaultedColumn`.
    init(word: UInt64) {
        typeCode = Self.defaultedCode
        nullByte = 0
        nullMask = 0
        position = UInt16(truncatingIfNeeded: word)
        variableCount = UInt16(truncatingIfNeeded: word >> 16)
        variableTable = UInt16(truncatingIfNeeded: word >> 32)
        addressEnd = UInt16(truncatingIfNeeded: word >> 48)
    }

    var word: UInt64 {
        UInt64(position) | UInt64(variableCount) << 16 | UInt64(variableTable) << 32 | UInt64(addressEnd) << 48
    }

    /// The code of a column with a default: no type's, and less than those of variable columns, so that every reader's check of the type
    /// finds it.
    static let defaultedCode: UInt8 = 15

    private init() {
        typeCode = 0
        nullByte = 0
        nullMask = 0
        position = 0
        variableCount = 0
        variableTable = 0
        addressEnd = 0
    }

    /// Represents a column that a layout does not have. It reads as null.
    public static let absent = ColumnAccess()

    @inlinable
    public var isAbsent: Bool { typeCode == 0 }

    /// The column's type; `bytes` for an absent column.
    public var type: ColumnType { ColumnType(rawValue: typeCode) ?? typeOfDefault }
}
