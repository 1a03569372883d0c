/// The arrangement of a row's bytes. Immutable; the catalog stores it, and each row names the layout that it was written with.
///
/// Body: layout ID (14 bits) and the width of the end offsets (2 bits), null bitmap (a set bit is null), fixed slots in column order,
/// end offsets of all variable columns except the last, variable bytes. Spec: FORMAT.md, "Row body".
public final class RowLayout: Sendable {
    public let id: LayoutID
    public let columns: [Column]
    /// The columns of the table's newest layout that this one lacks. They are null in rows of this layout.
    package let laterColumns: [Column]
    /// The access to each column, by position in `columns`. Not an array: loops read it without counting references, and opening does not
    /// wait while the runtime makes a type. Lives as long as the layout.
    nonisolated(unsafe) let accessTable: UnsafePointer<ColumnAccess>
    /// The least size of a body of this layout.
    public let minimumBodySize: Int
    let fixedEnd: Int
    let variableCount: Int
    /// The positions of `value` columns.
    let valuePositions: [Int]
    /// The first `fixedEnd` bytes of a row whose columns are all null.
    let template: [UInt8]

    static let nullsOffset = 2
    /// The position of the width code: 0 for one byte an end offset, 1 for two, 2 for four.
    static let widthShift: UInt16 = 14
    /// The most layouts of one table.
    static let layoutsMax = 1 << 14
    /// A limit, so that every offset fits 16 bits.
    package static let columnsMax = 2000

    /// - Precondition: at most `columnsMax` columns.
    package init(id: LayoutID, columns: [Column], laterColumns: [Column] = []) {
        precondition(columns.count <= Self.columnsMax, "a layout has at most \(Self.columnsMax) columns")
        self.id = id
        self.columns = columns
        self.laterColumns = laterColumns
        let nullBytes = (columns.count + 7) / 8
        var offset = Self.nullsOffset + nullBytes
        var positions: [Int] = []
        var variables = 0
        for column in columns {
            if let size = column.type.slotSize {
                positions.append(offset)
                offset += size
            } else {
                positions.append(variables)
                variables += 1
            }
        }
        fixedEnd = offset
        variableCount = variables
        valuePositions = columns.indices.filter { columns[$0].type == .value }
        var bytes = [UInt8](repeating: 0, count: offset)
        bytes[0] = UInt8(truncatingIfNeeded: id.rawValue)
        bytes[1] = UInt8(truncatingIfNeeded: id.rawValue >> 8)
        for index in 0..<nullBytes { bytes[Self.nullsOffset + index] = 0xFF }
        template = bytes
        minimumBodySize = offset + max(0, variables - 1)
        let table = UnsafeMutablePointer<ColumnAccess>.allocate(capacity: max(1, columns.count))
        for (index, column) in columns.enumerated() {
            (table + index).initialize(to: ColumnAccess(
                type: column.type, nullByte: Self.nullsOffset + index / 8, nullMask: 1 << UInt8(index % 8),
                position: positions[index], variableCount: variables, variableTable: offset))
        }
        accessTable = UnsafePointer(table)
    }

    /// The access to each column, by position in `columns`.
    public var access: ColumnAccesses { ColumnAccesses(layout: self) }

    deinit {
        accessTable.deallocate()
    }

    /// Whether the bytes are a body of this layout: long enough, and with end offsets that are ascending and within it.
    /// - Complexity: O(variable columns).
    package func fits(_ body: UnsafeRawBufferPointer) -> Bool {
        guard body.count >= minimumBodySize, let base = body.baseAddress else { return false }
        let width = Int(body[1] >> 6)
        guard width <= 2, variableCount > 0 || width == 0 else { return false }
        let start = fixedEnd + max(0, variableCount - 1) << width
        guard variableCount > 0 ? start <= body.count : start == body.count else { return false }
        let row = UnsafeRowView(body: base, byteCount: body.count, reference: RowReference(rawValue: 0), version: 0)
        var end = 0
        for index in 0..<max(0, variableCount - 1) {
            let next = row.endOffset(fixedEnd, index, width)
            guard next >= end, next <= body.count - start else { return false }
            end = next
        }
        return true
    }

    public func position(of id: ColumnID) -> Int? {
        columns.firstIndex { $0.id == id }
    }
}

/// The access to the columns of a layout, by position.
public struct ColumnAccesses: RandomAccessCollection, Sendable {
    fileprivate let layout: RowLayout

    public var startIndex: Int { 0 }
    public var endIndex: Int { layout.columns.count }

    @inline(__always)
    public subscript(position: Int) -> ColumnAccess {
        precondition(position >= 0 && position < layout.columns.count, "a layout has \(layout.columns.count) columns")
        return layout.accessTable[position]
    }
}
