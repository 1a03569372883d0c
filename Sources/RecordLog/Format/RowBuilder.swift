/// Builds row bodies, one after the other, in buffers that it keeps.
///
/// `begin` a row (every column null), set columns in any order, `finish` it.
public struct RowBuilder {
    private var body: [UInt8] = []
    private var variable: [UInt8] = []
    /// By variable position: where its bytes lie in `variable`.
    private var starts: [Int] = []
    private var ends: [Int] = []
    private var layout: RowLayout?

    public init() {}

    /// Starts a row of `layout`, with every column null.
    public mutating func begin(_ layout: RowLayout) {
        self.layout = layout
        body.removeAll(keepingCapacity: true)
        body.append(UInt8(truncatingIfNeeded: layout.id.rawValue))
        body.append(UInt8(truncatingIfNeeded: layout.id.rawValue >> 8))
        body.append(0)
        let nullBytes = (layout.columns.count + 7) / 8
        for _ in 0..<nullBytes { body.append(0xFF) }
        body.append(contentsOf: repeatElement(0, count: layout.fixedEnd - body.count))
        variable.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        starts.append(contentsOf: repeatElement(0, count: layout.variableCount))
        ends.append(contentsOf: repeatElement(0, count: layout.variableCount))
    }

    /// Starts a row of `layout` with what another row has in the columns of the same ID; the others are null.
    /// - Complexity: O(columns), or a copy of the bytes where both rows have the same layout.
    public mutating func begin(_ layout: RowLayout, copying row: RowView, of old: RowLayout) {
        begin(layout)
        for (position, column) in layout.columns.enumerated() {
            guard let from = old.position(of: column.id) else { continue }
            let source = old.access[from]
            guard !row.isNull(source), source.type == column.type else { continue }
            let access = layout.access[position]
            if access.typeCode >= ColumnType.text.rawValue {
                set(position, bytes: row.bytes(source))
            } else {
                body[Int(access.nullByte)] &= ~access.nullMask
                let width = column.type.slotSize ?? 0
                body.withUnsafeMutableBytes { body in
                    UnsafeMutableRawBufferPointer(rebasing: body[Int(access.position)..<Int(access.position) + width])
                        .copyMemory(from: UnsafeRawBufferPointer(start: row.body + Int(source.position), count: width))
                }
            }
        }
    }

    @inline(__always)
    private mutating func mark(_ position: Int, _ isExpected: (ColumnType) -> Bool) -> ColumnAccess {
        guard let layout else { preconditionFailure("a row is begun before its columns are set") }
        precondition(isExpected(layout.columns[position].type), "column \(layout.columns[position].name) is of another type")
        let access = layout.access[position]
        body[Int(access.nullByte)] &= ~access.nullMask
        return access
    }

    @inline(__always)
    private mutating func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
        body.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self) }
    }

    public mutating func set(_ position: Int, bool value: Bool) {
        let access = mark(position) { $0 == .bool }
        body[Int(access.position)] = value ? 1 : 0
    }

    /// Sets an integer column of any width.
    /// - Precondition: the value fits the column.
    public mutating func set(_ position: Int, int64 value: Int64) {
        let access = mark(position) { $0 == .int64 || $0 == .int32 || $0 == .int16 }
        let offset = Int(access.position)
        switch access.type {
        case .int64: store(value, at: offset)
        case .int32: store(Int32(value), at: offset)
        default: store(Int16(value), at: offset)
        }
    }

    /// Sets a float, double or date column.
    public mutating func set(_ position: Int, double value: Double) {
        let access = mark(position) { $0 == .double || $0 == .date || $0 == .float }
        if access.type == .float {
            store(Float(value).bitPattern, at: Int(access.position))
        } else {
            store(value.bitPattern, at: Int(access.position))
        }
    }

    public mutating func set(_ position: Int, uuid value: (UInt64, UInt64)) {
        let offset = Int(mark(position) { $0 == .uuid }.position)
        body.withUnsafeMutableBytes {
            $0.storeBytes(of: value.0, toByteOffset: offset, as: UInt64.self)
            $0.storeBytes(of: value.1, toByteOffset: offset + 8, as: UInt64.self)
        }
    }

    public mutating func set(_ position: Int, reference value: RowReference) {
        let access = mark(position) { $0 == .reference }
        store(value.rawValue, at: Int(access.position))
    }

    public mutating func set(_ position: Int, decimal value: StoredDecimal) {
        let offset = Int(mark(position) { $0 == .decimal }.position)
        body.withUnsafeMutableBytes { value.write(to: $0.baseAddress! + offset) }
    }

    /// Sets a text or bytes column.
    public mutating func set(_ position: Int, bytes value: UnsafeRawBufferPointer) {
        let index = Int(mark(position) { $0 == .text || $0 == .bytes }.position)
        starts[index] = variable.count
        variable.append(contentsOf: value)
        ends[index] = variable.count
    }

    public mutating func set(_ position: Int, text value: String) {
        var value = value
        value.withUTF8 { set(position, bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The finished body; valid until the next call.
    public mutating func finish() -> UnsafeRawBufferPointer {
        guard let layout else { preconditionFailure("a row is begun before it is finished") }
        if layout.variableCount > 0 {
            let total = zip(starts, ends).reduce(0) { $0 + $1.1 - $1.0 }
            let isWide = total > Int(UInt16.max)
            if isWide { body[RowLayout.flagsOffset] |= RowLayout.wideOffsetsFlag }
            var end = 0
            for index in 0..<layout.variableCount {
                end += ends[index] - starts[index]
                body.append(UInt8(truncatingIfNeeded: end))
                body.append(UInt8(truncatingIfNeeded: end >> 8))
                if isWide {
                    body.append(UInt8(truncatingIfNeeded: end >> 16))
                    body.append(UInt8(truncatingIfNeeded: end >> 24))
                }
            }
            for index in 0..<layout.variableCount { body.append(contentsOf: variable[starts[index]..<ends[index]]) }
        }
        return body.withUnsafeBytes { UnsafeRawBufferPointer(start: $0.baseAddress, count: $0.count) }
    }
}
