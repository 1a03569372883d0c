/// Builds one row body after another, and reuses its memory.
///
/// `begin` a row (every column is null), set columns in any order, and take its `unsafeBody`.
///
/// Invariants:
/// 1. `fixed` has `layout.fixedEnd` bytes, and room for the end offsets and variable bytes behind them.
/// 2. A variable column's bytes are in `variable` at its span; an unset column's span is empty.
/// 3. While `isInOrder`, the spans follow one another without gaps, in the columns' order.
/// 4. `access` has `columnCount` entries while `layout` is held.
/// 5. While `copiedCount` is not 0, `fixed` holds a whole body of the layout, `copiedCount` bytes long, in which only fixed slots and
///    null bits were set; 2 and 3 hold again once the first variable column is set.
public final class RowBuilder {
    private var fixed: UnsafeMutableRawPointer
    private var fixedCapacity = 256
    private var variable: UnsafeMutableRawPointer
    private var variableCapacity = 256
    private var variableCount = 0
    private var spans: UnsafeMutablePointer<Span>
    private var spansCapacity = 16
    private var isInOrder = true
    private var nextInOrder = 0
    private var layout: RowLayout?
    /// The layout's access table (4), with its other properties below: reading them counts no reference.
    private var access: UnsafePointer<ColumnAccess>?
    private var columnCount = 0
    private var layoutID: UInt16 = 0
    private var fixedEnd = 0
    private var spanCount = 0
    /// (5)
    @exclusivity(unchecked) private var copiedCount = 0
    /// Not public, so that no access is checked at run time.
    private var changedColumns = ColumnSet.all

    /// The columns that were set since the row was begun as a copy; all columns if it was not begun as a copy.
    public var changed: ColumnSet { changedColumns }

    private struct Span {
        var start: Int
        var end: Int
    }

    public init() {
        fixed = .allocate(byteCount: fixedCapacity, alignment: 8)
        variable = .allocate(byteCount: variableCapacity, alignment: 8)
        spans = .allocate(capacity: spansCapacity)
    }

    deinit {
        fixed.deallocate()
        variable.deallocate()
        spans.deallocate()
    }

    /// Starts a row of `layout`, with every column null.
    public func begin(_ layout: RowLayout) {
        use(layout)
        reserveFixed(fixedEnd)
        layout.template.withUnsafeBytes { fixed.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        reserveSpans(spanCount)
        variableCount = 0
        isInOrder = true
        nextInOrder = 0
        copiedCount = 0
        changedColumns = .all
    }

    @inline(__always)
    private func use(_ layout: RowLayout) {
        guard self.layout !== layout else { return }
        self.layout = layout
        access = layout.accessTable
        columnCount = layout.access.count
        layoutID = layout.id.rawValue
        fixedEnd = layout.fixedEnd
        spanCount = layout.variableCount
    }

    /// Starts a row of `layout` with another row's values, its defaults among them, in the columns of the same ID and type; other columns are
    /// null.
    /// - Complexity: O(columns); O(bytes) if the layouts are the same and only fixed columns are set afterwards.
    public func begin(_ layout: RowLayout, copying row: UnsafeRowView, of old: RowLayout) {
        if layout === old, row.byteCount >= layout.minimumBodySize { return begin(layout, copying: row) }
        begin(layout)
        for position in layout.columns.indices {
            let column = layout.columns[position]
            let isSame = layout === old || layout.id == old.id && position < old.columns.count && old.columns[position] == column
            let source = isSame ? old.readingAccess(position) : old.access(of: column.id)
            guard !source.isAbsent, source.type == column.type, !row.isNull(source) else { continue }
            copy(position, from: row, source)
        }
    }

    @inline(__always)
    private func begin(_ layout: RowLayout, copying row: UnsafeRowView) {
        use(layout)
        reserveFixed(row.byteCount)
        fixed.copyMemory(from: row.body, byteCount: row.byteCount)
        copiedCount = row.byteCount
        changedColumns = .none
    }

    /// Moves the variable columns of a copy to `variable`, since one of them is about to change (5).
    @inline(never)
    private func takeApart() {
        guard let layout else { preconditionFailure("a copy is begun with a layout") }
        let copy = UnsafeRowView(body: fixed, byteCount: copiedCount, reference: RowReference(rawValue: 0), version: 0)
        copiedCount = 0
        variableCount = 0
        isInOrder = true
        nextInOrder = 0
        reserveSpans(layout.variableCount)
        for position in layout.columns.indices {
            let access = layout.accessTable[position]
            if access.type.slotSize == nil, !copy.isNull(access) { setVariable(access, copy.bytes(access)) }
        }
    }

    private func reserveSpans(_ count: Int) {
        if count > spansCapacity {
            spans.deallocate()
            spansCapacity = count
            spans = .allocate(capacity: spansCapacity)
        }
        spans.initialize(repeating: Span(start: 0, end: 0), count: count)
    }

    /// Sets a column to null. Needed only in a copy, or for a column that was set.
    public func setNull(_ position: Int) {
        let access = mark(position) { _ in true }
        let byte = fixed.load(fromByteOffset: Int(access.nullByte), as: UInt8.self)
        fixed.storeBytes(of: byte | access.nullMask, toByteOffset: Int(access.nullByte), as: UInt8.self)
        if let size = access.type.slotSize {
            (fixed + Int(access.position)).initializeMemory(as: UInt8.self, repeating: 0, count: size)
        } else {
            if copiedCount > 0 { takeApart() }
            empty(Int(access.position))
        }
    }

    /// Empties a variable column's span. Its bytes stay in `variable`, so the spans now have a gap (3).
    @inline(__always)
    private func empty(_ index: Int) {
        if spans[index].end > spans[index].start { isInOrder = false }
        spans[index] = Span(start: 0, end: 0)
    }

    /// Sets a column to another row's column of the same type, byte for byte: for a value in separate frames, the reference.
    /// - Precondition: that column is not null.
    public func copy(_ position: Int, from row: UnsafeRowView, _ source: ColumnAccess) {
        let access = mark(position) { $0 == source.type }
        guard let size = access.type.slotSize else { return setVariable(access, row.bytes(source)) }
        (fixed + Int(access.position)).copyMemory(from: row.slot(source), byteCount: size)
    }

    private func reserveFixed(_ count: Int) {
        guard count > fixedCapacity else { return }
        let grown = UnsafeMutableRawPointer.allocate(byteCount: max(count, fixedCapacity * 2), alignment: 8)
        grown.copyMemory(from: fixed, byteCount: fixedCapacity)
        fixed.deallocate()
        fixed = grown
        fixedCapacity = max(count, fixedCapacity * 2)
    }

    private func reserveVariable(_ more: Int) {
        guard variableCount + more > variableCapacity else { return }
        let capacity = max(variableCount + more, variableCapacity * 2)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        grown.copyMemory(from: variable, byteCount: variableCount)
        variable.deallocate()
        variable = grown
        variableCapacity = capacity
    }

    @inline(__always)
    private func clearNull(_ access: ColumnAccess) {
        let byte = fixed.load(fromByteOffset: Int(access.nullByte), as: UInt8.self)
        fixed.storeBytes(of: byte & ~access.nullMask, toByteOffset: Int(access.nullByte), as: UInt8.self)
    }

    @inline(__always)
    private func mark(_ position: Int, _ isExpected: (ColumnType) -> Bool) -> ColumnAccess {
        guard let table = access, position >= 0, position < columnCount else {
            preconditionFailure("begin a row before you set its columns, and set each by its position in the layout")
        }
        let access = table[position]
        precondition(isExpected(access.type), "a column is set with a value of another type")
        clearNull(access)
        changedColumns.insert(position)
        return access
    }

    @inline(__always)
    private func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
        fixed.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }

    public func set(_ position: Int, bool value: Bool) {
        let access = mark(position) { $0 == .bool }
        store(value ? 1 : 0 as UInt8, at: Int(access.position))
    }

    /// Sets an integer column of any width.
    /// - Precondition: the value fits the column.
    public func set(_ position: Int, int64 value: Int64) {
        let access = mark(position) { $0 == .int64 || $0 == .int32 || $0 == .int16 }
        let offset = Int(access.position)
        switch access.type {
        case .int64: store(value, at: offset)
        case .int32: store(Int32(value), at: offset)
        default: store(Int16(value), at: offset)
        }
    }

    /// Sets a float, double or date column.
    public func set(_ position: Int, double value: Double) {
        let access = mark(position) { $0 == .double || $0 == .date || $0 == .float }
        if access.type == .float {
            store(Float(value).bitPattern, at: Int(access.position))
        } else {
            store(value.bitPattern, at: Int(access.position))
        }
    }

    public func set(_ position: Int, uuid value: (UInt64, UInt64)) {
        let offset = Int(mark(position) { $0 == .uuid }.position)
        fixed.storeBytes(of: value.0, toByteOffset: offset, as: UInt64.self)
        fixed.storeBytes(of: value.1, toByteOffset: offset + 8, as: UInt64.self)
    }

    public func set(_ position: Int, reference value: RowReference) {
        let access = mark(position) { $0 == .reference }
        store(value.rawValue, at: Int(access.position))
    }

    public func set(_ position: Int, decimal value: StoredDecimal) {
        let offset = Int(mark(position) { $0 == .decimal }.position)
        value.write(to: fixed + offset)
    }

    /// Sets a text or bytes column.
    public func set(_ position: Int, bytes value: UnsafeRawBufferPointer) {
        setVariable(mark(position) { $0 == .text || $0 == .bytes }, value)
    }

    /// Sets a column of fixed size to the bytes that a row stores.
    /// - Precondition: the count of the bytes is the slot's size.
    func set(_ position: Int, slot bytes: UnsafeRawBufferPointer) {
        let access = mark(position) { $0.slotSize == bytes.count }
        if let start = bytes.baseAddress { (fixed + Int(access.position)).copyMemory(from: start, byteCount: bytes.count) }
    }

    /// Sets a value column.
    public func set(_ position: Int, value: LargeValue) {
        value.stored.withUnsafeBytes { setVariable(mark(position) { $0 == .value }, $0) }
    }

    private func setVariable(_ access: ColumnAccess, _ value: UnsafeRawBufferPointer) {
        if copiedCount > 0 { takeApart() }
        let index = Int(access.position)
        reserveVariable(value.count)
        if let start = value.baseAddress { (variable + variableCount).copyMemory(from: start, byteCount: value.count) }
        spans[index] = Span(start: variableCount, end: variableCount + value.count)
        variableCount += value.count
        if index < nextInOrder { isInOrder = false }
        nextInOrder = index + 1
    }

    public func set(_ position: Int, text value: String) {
        // Uses contiguous storage directly: making a contiguous copy counts a reference.
        if value.utf8.withContiguousStorageIfAvailable({ set(position, bytes: UnsafeRawBufferPointer($0)) }) != nil { return }
        var value = value
        value.withUTF8 { set(position, bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The finished body; valid until the next call.
    public func unsafeBody() -> UnsafeRawBufferPointer {
        precondition(access != nil, "a row is begun before its body is taken")
        if copiedCount > 0 { return UnsafeRawBufferPointer(start: fixed, count: copiedCount) }
        let count = spanCount, table = fixedEnd
        guard count > 0 else { return UnsafeRawBufferPointer(start: fixed, count: table) }
        var total = 0
        for index in 0..<count { total += spans[index].end - spans[index].start }
        let code = total <= Int(UInt8.max) ? 0 : total <= Int(UInt16.max) ? 1 : 2
        let base = table + (count - 1) << code
        reserveFixed(base + total)
        store(layoutID | UInt16(code) << RowLayout.widthShift, at: 0)
        var end = 0
        for index in 0..<count {
            let span = spans[index]
            let size = span.end - span.start
            if !isInOrder, size > 0 { (fixed + base + end).copyMemory(from: variable + span.start, byteCount: size) }
            end += size
            guard index < count - 1 else { break }
            switch code {
            case 0: store(UInt8(truncatingIfNeeded: end), at: table + index)
            case 1: store(UInt16(truncatingIfNeeded: end), at: table + index * 2)
            default: store(UInt32(truncatingIfNeeded: end), at: table + index * 4)
            }
        }
        if isInOrder { (fixed + base).copyMemory(from: variable, byteCount: total) }
        return UnsafeRawBufferPointer(start: fixed, count: base + total)
    }
}
