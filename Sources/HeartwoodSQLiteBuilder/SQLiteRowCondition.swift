/// The condition of a partial index, over the values of a row. A row is in the index where it is true, neither false nor unknown.
package indirect enum SQLiteRowCondition: Sendable {
    package enum Comparison: Sendable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    /// Columns are positions in the table's statement, and none is the rowid's.
    case isNull(column: Int)
    /// A column for numbers is compared with a number, one for text with a text: SQLite converts neither.
    case comparison(column: Int, Comparison, SQLiteConstant)
    case not(SQLiteRowCondition)
    case and([SQLiteRowCondition])
    case or([SQLiteRowCondition])

    /// - Returns: nil for unknown, which a comparison with NULL is.
    func value(of record: RecordBuffer) -> Bool? {
        switch self {
        case .isNull(let column): return record.serials[column] == SerialType.null
        case .comparison(let column, let comparison, let constant):
            let serial = record.serials[column]
            guard serial != SerialType.null else { return nil }
            return comparison.holds(EntryOrder.compare(.init(serial: serial, bytes: record.memory + record.offsets[column]), constant.value))
        case .not(let condition): return condition.value(of: record).map { !$0 }
        case .and(let parts): return Self.joined(parts, record, deciding: false)
        case .or(let parts): return Self.joined(parts, record, deciding: true)
        }
    }

    /// One part that has the deciding value decides; else an unknown part makes the whole unknown.
    private static func joined(_ parts: [SQLiteRowCondition], _ record: RecordBuffer, deciding: Bool) -> Bool? {
        var isKnown = true
        for part in parts {
            guard let value = part.value(of: record) else {
                isKnown = false
                continue
            }
            if value == deciding { return deciding }
        }
        return isKnown ? !deciding : nil
    }
}

extension SQLiteRowCondition.Comparison {
    /// - Parameter order: negative where the left side comes first.
    fileprivate func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

/// A number or a text in a condition, as a record has it.
package final class SQLiteConstant: Sendable {
    private let serial: UInt64
    /// Its bytes do not change.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawPointer

    package init(integer: Int64) {
        serial = SerialType.integer(integer)
        bytes = .allocate(byteCount: RecordBuffer.numberSize, alignment: 8)
        SerialType.write(integer, size: SerialType.size(serial), to: bytes)
    }

    package init(real: Double) {
        serial = SerialType.real
        bytes = .allocate(byteCount: RecordBuffer.numberSize, alignment: 8)
        bytes.storeBytes(of: real.bitPattern.bigEndian, as: UInt64.self)
    }

    package init(text: String) {
        let utf8 = Array(text.utf8)
        serial = SerialType.text(utf8.count)
        bytes = .allocate(byteCount: max(1, utf8.count), alignment: 8)
        bytes.copyMemory(from: utf8, byteCount: utf8.count)
    }

    deinit { bytes.deallocate() }

    fileprivate var value: RecordReader.Value { RecordReader.Value(serial: serial, bytes: bytes) }
}
