import RecordLog

/// The content of a row's column.
enum PlainCell: Hashable {
    case null
    /// A fixed column's slot, or a variable column's bytes.
    case bytes([UInt8])

    var bytes: [UInt8] {
        if case .bytes(let bytes) = self { bytes } else { [] }
    }
}

/// Row bodies by FORMAT.md, "Row body": the plain reference for `RowBuilder`, with which it shares no code.
enum PlainRow {
    static func body(layout: UInt16, _ columns: [(type: ColumnType, cell: PlainCell)]) -> [UInt8] {
        var nulls = [UInt8](repeating: 0xFF, count: (columns.count + 7) / 8)
        var slots: [UInt8] = [], variable: [UInt8] = [], ends: [Int] = []
        for (index, (type, cell)) in columns.enumerated() {
            if cell != .null { nulls[index / 8] -= 1 << UInt8(index % 8) }
            if let size = type.slotSize {
                slots += cell == .null ? [UInt8](repeating: 0, count: size) : cell.bytes
            } else {
                variable += cell.bytes
                ends.append(variable.count)
            }
        }
        let width = variable.count < 256 ? 1 : variable.count < 65_536 ? 2 : 4
        let code: UInt16 = width == 1 ? 0 : width == 2 ? 1 : 2
        let head = layout | code << 14
        let offsets = ends.dropLast().flatMap { end in (0..<width).map { UInt8(truncatingIfNeeded: end >> (8 * $0)) } }
        return [UInt8(truncatingIfNeeded: head), UInt8(truncatingIfNeeded: head >> 8)] + nulls + slots + offsets + variable
    }
}
