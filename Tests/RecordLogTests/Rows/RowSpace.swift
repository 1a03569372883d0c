@testable import RecordLog

/// All rows of one layout whose columns each have one of a few cells. A row is a list of choices, one for each column.
final class RowSpace {
    let layout: RowLayout
    let cells: [[PlainCell]]
    /// Values by column and choice, made once: a run then converts no text to a string and no value to a `LargeValue`.
    private let values: [[LargeValue]]
    private var bodies: [Int: [UInt8]] = [:]

    /// - Parameter columns: each column's ID, type and cells.
    init(layoutID: UInt16 = 3, _ columns: [(id: UInt16, type: ColumnType, cells: [PlainCell])]) {
        layout = RowLayout(
            id: LayoutID(rawValue: layoutID),
            columns: columns.map { Column(id: ColumnID(rawValue: $0.id), name: "\($0.id)", type: $0.type) })
        cells = columns.map(\.cells)
        values = columns.map { column in
            column.cells.map { cell in cell.bytes.withUnsafeBytes { LargeValue(inRow: $0) } }
        }
    }

    /// Every row; the first column changes fastest.
    var rows: [[Int]] {
        cells.reduce([[]]) { rows, cells in cells.indices.flatMap { choice in rows.map { $0 + [choice] } } }
    }

    /// Every change of one column, including changes to the present choice.
    var changes: [(column: Int, choice: Int)] {
        cells.indices.flatMap { column in cells[column].indices.map { (column, $0) } }
    }

    /// Every sequence of up to `count` changes, shorter ones first.
    func sequences(upTo count: Int) -> [[(column: Int, choice: Int)]] {
        var all: [[(column: Int, choice: Int)]] = [[]], longest = all
        for _ in 0..<count {
            longest = longest.flatMap { sequence in changes.map { sequence + [$0] } }
            all += longest
        }
        return all
    }

    /// The reference's body of a row.
    func body(_ row: [Int]) -> [UInt8] {
        var key = 0
        for (column, choice) in row.enumerated() { key = key * cells[column].count + choice }
        if let body = bodies[key] { return body }
        let body = PlainRow.body(layout: layout.id.rawValue, row.indices.map { column in
            let cell = cells[column][row[column]]
            guard layout.columns[column].type == .value, cell != .null else { return (layout.columns[column].type, cell) }
            // A byte before a value in the row marks it as such.
            return (.value, .bytes([0] + cell.bytes))
        })
        bodies[key] = body
        return body
    }

    func isEqual(_ body: UnsafeRawBufferPointer, to row: [Int]) -> Bool {
        self.body(row).withUnsafeBytes { KeyBytes.compare($0, body) == 0 }
    }

    /// Sets a column to one of its cells with the builder's call for its type.
    func set(_ column: Int, to choice: Int, in builder: RowBuilder) {
        guard case .bytes(let bytes) = cells[column][choice] else { return builder.setNull(column) }
        switch layout.columns[column].type {
        case .text, .bytes: bytes.withUnsafeBytes { builder.set(column, bytes: $0) }
        case .value: builder.set(column, value: values[column][choice])
        default: bytes.withUnsafeBytes { builder.set(column, slot: $0) }
        }
    }

    /// Starts a row as a copy of another space's row.
    func begin(copying row: [Int], of other: RowSpace, in builder: RowBuilder) {
        other.body(row).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            let view = UnsafeRowView(body: start, byteCount: bytes.count, reference: RowReference(rawValue: 1), version: 1)
            builder.begin(layout, copying: view, of: other.layout)
        }
    }
}

/// The cells of the columns. Bytes differ by column, so that one column's bytes cannot pass for another's.
enum Cells {
    static func fixed(_ column: UInt16, _ type: ColumnType) -> [PlainCell] {
        let size = type.slotSize ?? 0
        return [.null] + [type == .bool ? 1 : UInt8(truncatingIfNeeded: column &+ 1)].map { .bytes([UInt8](repeating: $0, count: size)) }
    }

    /// Null, empty, short, and longer than an end offset of one byte allows.
    static func variable(_ column: UInt16) -> [PlainCell] {
        [.null] + [0, 2, 300].map { .bytes([UInt8](repeating: 0x61 + UInt8(truncatingIfNeeded: column), count: $0)) }
    }

    /// The cells of `variable`, and one longer than an end offset of two bytes allows.
    static func wide(_ column: UInt16) -> [PlainCell] {
        variable(column) + [.bytes([UInt8](repeating: 0x41 + UInt8(truncatingIfNeeded: column), count: 66_000))]
    }
}
