/// The arrangement of a row's bytes. Immutable; the catalog stores it, and each row names the layout that it was written with.
///
/// Body: layout ID (14 bits) and the width of the end offsets (2 bits), null bitmap (a set bit is null), fixed slots in column order,
/// end offsets of all variable columns except the last, variable bytes. Spec: FORMAT.md, "Row body".
public final class RowLayout: Sendable {
    public let id: LayoutID
    public let columns: [Column]
    /// The columns of the table's newest layout that this one lacks. Rows of this layout have the column's default, or null.
    package let laterColumns: [Column]
    /// The access to each of `laterColumns`: absent for null.
    package var laterAccess: [ColumnAccess] { laterColumns.map { access(of: $0.id) } }
    /// The place of each column in a row's bytes, by position in `columns`. Not an array: loops read it without counting references, and opening does not
    /// wait while the runtime makes a type. Lives as long as the layout.
    package nonisolated(unsafe) let accessTable: UnsafePointer<ColumnAccess>
    /// As `accessTable`, for readers: columns with a default lead to it. The same memory if no column has one.
    private nonisolated(unsafe) let readingTable: UnsafePointer<ColumnAccess>
    /// The defaults that this layout states, for rows of older ones.
    let stated: [ColumnDefault]
    /// The defaults that rows of this layout have: those of newer ones.
    private let defaults: [ColumnDefault]
    private nonisolated(unsafe) let defaulted: UnsafeMutablePointer<DefaultedColumn>?
    /// The columns that only the defaults have.
    private let lacking: [(column: ColumnID, access: ColumnAccess)]
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
    package convenience init(id: LayoutID, columns: [Column], laterColumns: [Column] = []) {
        self.init(id: id, columns: columns, laterColumns: laterColumns, stated: [], defaults: [])
    }

    /// - Parameter defaults: at most one for each column.
    init(id: LayoutID, columns: [Column], laterColumns: [Column], stated: [ColumnDefault], defaults: [ColumnDefault]) {
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
        self.stated = stated
        self.defaults = defaults
        guard !defaults.isEmpty else {
            (readingTable, defaulted, lacking) = (UnsafePointer(table), nil, [])
            return
        }
        let reading = UnsafeMutablePointer<ColumnAccess>.allocate(capacity: max(1, columns.count))
        reading.initialize(from: table, count: columns.count)
        let leading = UnsafeMutablePointer<DefaultedColumn>.allocate(capacity: defaults.count)
        var lacking: [(column: ColumnID, access: ColumnAccess)] = []
        for (index, value) in defaults.enumerated() {
            let position = columns.firstIndex { $0.id == value.column }
            (leading + index).initialize(to: DefaultedColumn(own: position.map { table[$0] } ?? .absent, value: .passUnretained(value)))
            guard let position else {
                lacking.append((value.column, ColumnAccess(UnsafePointer(leading + index))))
                continue
            }
            // A column that had another type has its values of that type, and null.
            if columns[position].type == value.type { reading[position] = ColumnAccess(UnsafePointer(leading + index)) }
        }
        (readingTable, defaulted, self.lacking) = (UnsafePointer(reading), leading, lacking)
    }

    /// The access to each column, by position in `columns`.
    public var access: ColumnAccesses { ColumnAccesses(layout: self) }

    /// The access to one column of `columns`, for readers.
    @inline(__always)
    package func readingAccess(_ position: Int) -> ColumnAccess { readingTable[position] }

    deinit {
        if readingTable != accessTable { readingTable.deallocate() }
        defaulted?.deallocate()
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

    /// The access to a column of the table in rows of this layout. A column that the layout lacks has its default, or is absent. Valid as long
    /// as the layout.
    /// - Complexity: O(columns).
    public func access(of id: ColumnID) -> ColumnAccess {
        if let position = position(of: id) { return readingTable[position] }
        return lacking.first { $0.column == id }?.access ?? .absent
    }

    /// Whether both layouts state the same defaults.
    package func hasSameDefaults(as other: RowLayout) -> Bool {
        stated.count == other.stated.count
            && zip(stated, other.stated).allSatisfy { $0.column == $1.column && $0.type == $1.type && $0.bytes == $1.bytes }
    }

    /// The longest text or data that a layout states as a default.
    package static let defaultSizeMax = ColumnDefault.sizeMax

    /// How many defaults the layout states.
    package var defaultCount: Int { stated.count }

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
        return layout.readingAccess(position)
    }
}
