/// The record of the row that is being appended. All tables of a file share one, which grows to the longest row.
///
/// The values follow each other from `front` on. The header, whose size shows in the end, is written before them.
final class RecordBuffer {
    private(set) var layout = RecordLayout(affinities: [], rowidColumn: nil)
    /// The columns written so far.
    private(set) var written = 0
    private var isTooLarge = false
    /// Whether a row is being written. A second one would overwrite it.
    private var isOpen = false
    /// By column, the type and the offset of its value.
    private(set) var serials: UnsafeMutablePointer<UInt64>
    private(set) var offsets: UnsafeMutablePointer<Int>

    private(set) var memory: UnsafeMutableRawPointer
    private var capacity = 4096
    private var columnCapacity = 0
    private var front = 0
    private var end = 0

    /// Integers and reals are written in eight bytes. Fewer of them may count.
    static let numberSize = 8

    init() {
        memory = .allocate(byteCount: capacity, alignment: 16)
        serials = .allocate(capacity: 0)
        offsets = .allocate(capacity: 0)
    }

    deinit {
        memory.deallocate()
        serials.deallocate()
        offsets.deallocate()
    }

    func reserve(columns: Int) {
        guard columns > columnCapacity else { return }
        columnCapacity = columns
        serials.deallocate()
        offsets.deallocate()
        serials = .allocate(capacity: columns)
        offsets = .allocate(capacity: columns)
        front = Varint.sizeMax * (columns + 1)
        end = front
        makeRoom(Self.numberSize)
    }

    func begin(_ layout: RecordLayout) {
        precondition(!isOpen, "a row is appended while another is written")
        isOpen = true
        self.layout = layout
        written = 0
        isTooLarge = false
        end = front
    }

    @inline(__always)
    private func makeRoom(_ count: Int) {
        if end + count > capacity { grow(end + count) }
    }

    private func grow(_ count: Int) {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: max(count, 2 * capacity), alignment: 16)
        larger.copyMemory(from: memory, byteCount: end)
        memory.deallocate()
        memory = larger
        capacity = max(count, 2 * capacity)
    }

    /// Whether the next column is the rowid's, whose value is not in the record.
    @inline(__always)
    private var isRowid: Bool { written == layout.rowidColumn }

    @inline(__always)
    private func add(_ serial: UInt64, _ size: Int) {
        precondition(written < layout.columns, "a row has no more values than its table has columns")
        serials[written] = serial
        offsets[written] = end
        written += 1
        end += size
    }

    func addNull() { add(SerialType.null, 0) }

    func addInteger(_ value: Int64) {
        guard written < layout.columns, !isRowid else { return addNull() }
        let serial = SerialType.integer(value)
        // SQLite prefers a real to eight bytes of an integer where the column is for reals.
        if serial == 6, layout.affinities[written] == .real { return addDouble(Double(value)) }
        let size = SerialType.size(serial)
        makeRoom(Self.numberSize)
        SerialType.write(value, size: size, to: memory + end)
        add(serial, size)
    }

    func addReal(_ value: Double) {
        // SQLite has no such number.
        guard written < layout.columns, !isRowid, !value.isNaN else { return addNull() }
        if layout.affinities[written].rawValue >= ColumnAffinity.numeric.rawValue, let whole = Int64(exactly: value), whole != .min {
            if layout.affinities[written] != .real || SerialType.integer(whole) != 6 { return addInteger(whole) }
        }
        addDouble(value)
    }

    private func addDouble(_ value: Double) {
        makeRoom(Self.numberSize)
        (memory + end).storeBytes(of: value.bitPattern.bigEndian, as: UInt64.self)
        add(SerialType.real, Self.numberSize)
    }

    func addBytes(_ bytes: UnsafeRawBufferPointer, isText: Bool) {
        guard !isRowid else { return addNull() }
        guard bytes.count <= PageFormat.recordMax - (end - front) else {
            isTooLarge = true
            return addNull()
        }
        makeRoom(bytes.count)
        UnsafeMutableRawBufferPointer(start: memory + end, count: bytes.count).copyMemory(from: bytes)
        add(isText ? SerialType.text(bytes.count) : SerialType.blob(bytes.count), bytes.count)
    }

    /// Gives up a row that its writer did not complete.
    func cancel() { isOpen = false }

    /// Writes the header. Columns without a value are NULL.
    /// - Returns: the record, until the next one begins; nil if it is larger than SQLite reads.
    func finish() -> UnsafeRawBufferPointer? {
        isOpen = false
        while written < layout.columns { addNull() }
        var size = 0
        for column in 0..<written { size += Varint.size(serials[column]) }
        let header = HeaderSize.with(size)
        guard !isTooLarge, header + end - front <= PageFormat.recordMax else { return nil }
        let start = memory + front - header
        var at = Varint.write(UInt64(header), to: start)
        for column in 0..<written { at += Varint.write(serials[column], to: start + at) }
        return UnsafeRawBufferPointer(start: start, count: header + end - front)
    }
}

/// The size of a record's header counts the bytes of that size as well.
enum HeaderSize {
    @inline(__always)
    static func with(_ types: Int) -> Int {
        if types < 0x7f { return types + 1 }
        return types + 2 < 1 << 14 ? types + 2 : types + 3
    }
}
