/// How the bytes of a row lie. Immutable, stored in the catalog, named by each row written with it.
///
/// Body: layout ID u16, flags u8, null bitmap (a set bit is null), fixed slots in column order, end offsets of the
/// variable columns (u16, or u32 where the flag says so), variable bytes. Spec: FORMAT.md, "Row body".
public final class RowLayout: Sendable {
    public let id: LayoutID
    public let columns: [Column]
    /// By position in `columns`.
    public let access: [ColumnAccess]
    /// A body of this layout is never shorter.
    public let minimumBodySize: Int
    let fixedEnd: Int
    let variableCount: Int

    static let flagsOffset = 2
    static let nullsOffset = 3
    static let wideOffsetsFlag: UInt8 = 1
    /// So that every offset fits 16 bits.
    static let columnsMax = 2000

    /// - Precondition: at most `columnsMax` columns.
    public init(id: LayoutID, columns: [Column]) {
        precondition(columns.count <= Self.columnsMax, "a layout has at most \(Self.columnsMax) columns")
        self.id = id
        self.columns = columns
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
        minimumBodySize = offset + variables * 2
        access = columns.indices.map { index in
            ColumnAccess(
                type: columns[index].type, nullByte: Self.nullsOffset + index / 8, nullMask: 1 << UInt8(index % 8),
                position: positions[index], variableCount: variables, variableTable: offset)
        }
    }

    /// Whether the bytes are a body of this layout: long enough, with end offsets that are in order and within it.
    /// - Complexity: O(variable columns).
    func fits(_ body: UnsafeRawBufferPointer) -> Bool {
        guard body.count >= minimumBodySize, let base = body.baseAddress, body[Self.flagsOffset] & ~Self.wideOffsetsFlag == 0
        else { return false }
        let width = body[Self.flagsOffset] & Self.wideOffsetsFlag != 0 ? 4 : 2
        let start = fixedEnd + variableCount * width
        guard start <= body.count else { return false }
        var end = 0
        for index in 0..<variableCount {
            let at = fixedEnd + index * width
            let next = width == 4
                ? Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
                : Int(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt16.self)))
            guard next >= end, next <= body.count - start else { return false }
            end = next
        }
        return true
    }

    public func position(of id: ColumnID) -> Int? {
        columns.firstIndex { $0.id == id }
    }
}
