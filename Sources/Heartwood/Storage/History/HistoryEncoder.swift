import RecordLog

/// The kinds of items in a transaction's encoded changes. Spec: docs/format/stack.md, "History".
package enum HistoryItem: UInt64 {
    case table = 1
    case insertions = 2
    case updates = 3
    case deletions = 4
    case properties = 5
    case preservedColumns = 6
    case preservedDeletion = 7

    static let bits: UInt64 = 3
    static let mask: UInt64 = 7
}

/// Encodes changes. Consecutive rows with the same change are one item, so a batch over ten million rows takes a few bytes.
///
/// Invariants:
/// 1. Tables come in the order of their IDs, and the rows of each table in the order of their numbers.
/// 2. `run` is not in `bytes` yet; everything before it is.
package struct HistoryEncoder {
    private(set) var bytes: [UInt8] = []
    private var table: TableID?
    /// The table of the last written item.
    private var writtenTable: TableID?
    private var run: (item: HistoryItem, first: UInt64, count: UInt64)?
    /// The row number to which the next item's first row is relative.
    private var next: UInt64 = 1
    /// Indexes of the changed properties, of the current run and as last written.
    private var properties: [Int] = []
    private var preserved: [Column] = []

    package init() {}

    /// Starts the changes of a table.
    package mutating func begin(_ table: TableID) {
        endRun()
        self.table = table
    }

    /// - Parameter item: insertions or deletions.
    package mutating func add(_ item: HistoryItem, _ row: UInt64) {
        if let run, run.item == item, run.first + run.count == row {
            self.run?.count += 1
        } else {
            endRun()
            run = (item, row, 1)
        }
    }

    /// - Parameter changed: indexes of properties, ascending.
    package mutating func addUpdate(_ row: UInt64, _ changed: [Int], of table: EntityTable) {
        if let run, run.item == .updates, run.first + run.count == row, changed == properties {
            self.run?.count += 1
            return
        }
        endRun()
        writeTable()
        if changed != properties {
            properties = changed
            writeProperties(of: table)
        }
        run = (.updates, row, 1)
    }

    package mutating func addDeletion(_ row: UInt64, preserving columns: [Column], _ body: UnsafeRawBufferPointer) {
        endRun()
        writeTable()
        if columns != preserved {
            preserved = columns
            write(.preservedColumns, UInt64(columns.count))
            for column in columns {
                write(UInt64(column.id.rawValue))
                bytes.append(column.type.rawValue)
            }
        }
        write(.preservedDeletion, UInt64(body.count))
        write(row - next)
        next = row + 1
        bytes.append(contentsOf: body)
    }

    package mutating func endRun() {
        guard let run else { return }
        writeTable()
        write(run.item, run.count - 1)
        write(run.first - next)
        next = run.first + run.count
        self.run = nil
    }

    /// Returns the encoded bytes and empties the buffer.
    package mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    // MARK: Bytes

    private mutating func writeTable() {
        guard let table, table != writtenTable else { return }
        writtenTable = table
        write(.table, UInt64(table.rawValue))
        next = 1
        properties = []
        preserved = []
    }

    /// Writes a property as its column's ID, which stays the same when the column is renamed. A property without a column is written as its name.
    private mutating func writeProperties(of table: EntityTable) {
        write(.properties, UInt64(properties.count))
        for property in properties {
            if let position = table.positions[property] {
                write(UInt64(table.layout.columns[position].id.rawValue) << 1)
            } else {
                let name = table.runtime.properties[property].name
                write(UInt64(name.utf8.count) << 1 | 1)
                bytes.append(contentsOf: name.utf8)
            }
        }
    }

    private mutating func write(_ item: HistoryItem, _ argument: UInt64) { write(argument << HistoryItem.bits | item.rawValue) }

    /// Writes an LEB128 number: seven bits a byte, low ones first.
    private mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
