import RecordLog

/// Decodes the items of a transaction's changes piece by piece. Memory: one piece and the contents of one item.
///
/// The bytes are untrusted: each value is checked before it is used, and no number in them decides the size of an allocation.
struct HistoryDecoder {
    struct Malformed: Error {}

    /// Consecutive rows with the same change.
    struct Run {
        let item: HistoryItem
        let table: TableID
        let rows: Range<UInt64>
    }

    /// A property as the history stores it.
    enum Property: Hashable {
        case column(ColumnID)
        case named(String)
    }

    private let value: ValueReader
    private var window: [UInt8] = []
    /// The window's offset in the value, and the next byte's offset in the window.
    private var start = 0, offset = 0
    private var table: TableID?
    private var nextRow: UInt64 = 1
    /// The properties of the updates that follow.
    private(set) var properties: [Property] = []
    /// The layout of the bodies of the deletions that follow.
    private(set) var preserved = RowLayout(id: LayoutID(rawValue: 0), columns: [])
    /// The preserved body of the last deletion.
    private(set) var body: [UInt8] = []

    private static let windowSize = 64 << 10

    init(_ value: ValueReader) {
        self.value = value
    }

    /// Returns the next run; nil at the end.
    /// - Throws: `Malformed`; a `StoreError` where the value cannot be read.
    mutating func next() throws -> Run? {
        while start + offset < value.count {
            let word = try varint()
            guard let item = HistoryItem(rawValue: word & HistoryItem.mask) else { throw Malformed() }
            let argument = word >> HistoryItem.bits
            switch item {
            case .table:
                guard let id = UInt16(exactly: argument), id > table?.rawValue ?? 0 else { throw Malformed() }
                table = TableID(rawValue: id)
                nextRow = 1
                properties = []
                preserved = RowLayout(id: LayoutID(rawValue: 0), columns: [])
            case .properties: try readProperties(argument)
            case .preservedColumns: try readColumns(argument)
            case .preservedDeletion:
                let run = try run(item, count: 1)
                body = try bytes(argument)
                return run
            case .insertions, .updates, .deletions: return try run(item, count: argument + 1)
            }
        }
        return nil
    }

    private mutating func run(_ item: HistoryItem, count: UInt64) throws -> Run {
        let skipped = try varint()
        // Both are below 2^62, so the sum cannot overflow.
        guard let table, skipped <= RowReference.rowMask, count <= RowReference.rowMask, nextRow + skipped + count <= RowReference.rowMask + 1
        else { throw Malformed() }
        let first = nextRow + skipped
        nextRow = first + count
        return Run(item: item, table: table, rows: first..<nextRow)
    }

    private mutating func readProperties(_ count: UInt64) throws {
        guard count <= UInt64(value.count) else { throw Malformed() }
        properties = []
        for _ in 0..<count {
            let word = try varint()
            if word & 1 == 0 {
                guard let id = UInt16(exactly: word >> 1) else { throw Malformed() }
                properties.append(.column(ColumnID(rawValue: id)))
            } else {
                properties.append(.named(String(decoding: try bytes(word >> 1), as: UTF8.self)))
            }
        }
    }

    private mutating func readColumns(_ count: UInt64) throws {
        guard count <= UInt64(RowLayout.columnsMax) else { throw Malformed() }
        var columns: [Column] = []
        for _ in 0..<count {
            guard let id = UInt16(exactly: try varint()), let type = ColumnType(rawValue: try byte()) else { throw Malformed() }
            columns.append(Column(id: ColumnID(rawValue: id), name: "", type: type))
        }
        preserved = RowLayout(id: LayoutID(rawValue: 0), columns: columns)
    }

    // MARK: Bytes

    private mutating func byte() throws -> UInt8 {
        if offset == window.count { try advance() }
        defer { offset += 1 }
        return window[offset]
    }

    private mutating func advance() throws {
        start += window.count
        offset = 0
        let count = min(Self.windowSize, value.count - start)
        guard count > 0 else { throw Malformed() }
        var piece = [UInt8](repeating: 0, count: count)
        let read = try piece.withUnsafeMutableBytes { try value.read(into: $0, from: start) }
        guard read == count else { throw Malformed() }
        window = piece
    }

    private mutating func varint() throws -> UInt64 {
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            let byte = try byte()
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
        }
        throw Malformed()
    }

    private mutating func bytes(_ count: UInt64) throws -> [UInt8] {
        guard count <= UInt64(value.count - start - offset) else { throw Malformed() }
        var result: [UInt8] = []
        result.reserveCapacity(Int(count))
        while result.count < Int(count) {
            if offset == window.count { try advance() }
            let part = min(Int(count) - result.count, window.count - offset)
            result.append(contentsOf: window[offset..<offset + part])
            offset += part
        }
        return result
    }
}
