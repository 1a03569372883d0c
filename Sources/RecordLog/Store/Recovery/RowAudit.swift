/// Checks that rows have the one form that writers give them: the same values always have the same bytes. Spec: FORMAT.md, "Row body".
enum RowAudit {
    struct Fault {
        /// The column's index in the layout; nil for a fault of the whole row.
        let column: Int?
        let message: String

        fileprivate init(_ column: Int?, _ message: String) {
            self.column = column
            self.message = message
        }
    }

    /// The first fault of a row; nil for a sound one. Values in frames of their own are not read.
    /// - Complexity: O(columns + bytes of texts).
    static func fault(of row: UnsafeRowView, _ layout: RowLayout) -> Fault? {
        guard layout.fits(UnsafeRawBufferPointer(start: row.body, count: row.byteCount)) else {
            return Fault(nil, "its bytes do not suit its layout: its end offsets are out of order, or it is too short or too long")
        }
        let count = layout.columns.count
        if count % 8 != 0 {
            let last = row.body.load(fromByteOffset: RowLayout.nullsOffset + count / 8, as: UInt8.self), unused = UInt8(0xFF) << UInt8(count % 8)
            if last & unused != unused { return Fault(nil, "bits of its null bitmap past the last column are clear") }
        }
        if layout.variableCount > 0, !hasNarrowestOffsets(row, layout) { return Fault(nil, "its end offsets are wider than they need to be") }
        let columns = layout.accessTable
        for position in 0..<count {
            if let message = fault(of: columns[position], in: row) { return Fault(position, message) }
        }
        return nil
    }

    private static func hasNarrowestOffsets(_ row: UnsafeRowView, _ layout: RowLayout) -> Bool {
        let shift = Int(row.body.load(fromByteOffset: 1, as: UInt8.self) >> 6)
        let total = row.byteCount - layout.fixedEnd - (layout.variableCount - 1) << shift
        return shift == (total <= Int(UInt8.max) ? 0 : total <= Int(UInt16.max) ? 1 : 2)
    }

    /// The fault of one column, nil for a sound one. The row's layout fits its bytes.
    @inline(__always)
    static func fault(of access: ColumnAccess, in row: UnsafeRowView) -> String? {
        let type = access.type, start = row.body + Int(access.position)
        guard !row.isNull(access) else {
            guard let size = type.slotSize else { return row.bytes(access).isEmpty ? nil : "it is null and has bytes" }
            for at in 0..<size where start.load(fromByteOffset: at, as: UInt8.self) != 0 { return "it is null and its bytes are not zero" }
            return nil
        }
        switch type {
        case .bool: return start.load(as: UInt8.self) <= 1 ? nil : "it is neither true nor false"
        case .decimal: return StoredDecimal.isWritten(start) ? nil : "it is a decimal that no writer writes"
        case .text: return isUTF8(row.bytes(access)) ? nil : "its text is no UTF-8"
        case .value: return StoredValue(row.bytes(access)) == nil ? "it is no value" : nil
        case .int16, .int32, .int64, .float, .double, .date, .uuid, .reference, .bytes: return nil
        }
    }

    /// Whether bytes are UTF-8. Skips ASCII eight bytes at a time.
    static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        while at &+ 8 <= bytes.count, bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 { at &+= 8 }
        while at < bytes.count {
            let first = bytes[at]
            at &+= 1
            guard first >= 0x80 else { continue }
            // The number of continuation bytes, and the range of the first one. The ranges exclude surrogates, overlong forms and code points
            // past U+10FFFF.
            let following: Int, next: ClosedRange<UInt8>
            switch first {
            case 0xC2...0xDF: (following, next) = (1, 0x80...0xBF)
            case 0xE0: (following, next) = (2, 0xA0...0xBF)
            case 0xED: (following, next) = (2, 0x80...0x9F)
            case 0xE1...0xEF: (following, next) = (2, 0x80...0xBF)
            case 0xF0: (following, next) = (3, 0x90...0xBF)
            case 0xF1...0xF3: (following, next) = (3, 0x80...0xBF)
            case 0xF4: (following, next) = (3, 0x80...0x8F)
            default: return false
            }
            guard bytes.count &- at >= following, next.contains(bytes[at]) else { return false }
            for index in 1..<max(following, 1) where bytes[at &+ index] & 0xC0 != 0x80 { return false }
            at &+= following
        }
        return true
    }

    /// The fault of a row of the system table; nil for a sound one, and for the client's rows.
    static func systemFault(of row: UnsafeRowView) -> String? {
        let bytes = UnsafeRawBufferPointer(start: row.body, count: row.byteCount)
        switch row.reference.row {
        case Catalog.row: return Catalog(bytes)?.encoded().elementsEqual(bytes) == true ? nil : "the catalog is malformed"
        case RowNumbers.row:
            return RowNumbers(bytes)?.encoded().elementsEqual(bytes) == true ? nil : "the list of row numbers is malformed"
        case CommitDecisions.row:
            return CommitDecisions(bytes)?.encoded().elementsEqual(bytes) == true ? nil : "the list of decisions about other stores is malformed"
        case Lineage.row:
            return Lineage(bytes)?.encoded().elementsEqual(bytes) == true ? nil : "the lineage is malformed"
        default: return nil
        }
    }
}

extension Catalog {
    /// The fault of a row, with the names of its table and column; nil for a sound one.
    func fault(of row: UnsafeRowView) -> String? {
        guard row.reference.table != .system else {
            return RowAudit.systemFault(of: row).map { "the system table, row \(row.reference.row): \($0)" }
        }
        guard let table = table(row.reference.table), let layout = table.layout(row.layoutID) else {
            return "table \(row.reference.table.rawValue), row \(row.reference.row): it has no layout that the catalog has"
        }
        guard let fault = RowAudit.fault(of: row, layout) else { return nil }
        return location(of: row.reference, column: fault.column.map { layout.columns[$0].name }) + ": " + fault.message
    }

    /// The table, row and column, for a message.
    func location(of reference: RowReference, column: String? = nil) -> String {
        "table \(table(reference.table)?.name ?? "\(reference.table.rawValue)"), row \(reference.row)" + (column.map { ", column \($0)" } ?? "")
    }
}
