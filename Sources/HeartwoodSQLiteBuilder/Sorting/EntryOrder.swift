import HeartwoodPlatform

/// The order of an index's entries, which are records of SQLite: the key's values, then the rowid.
///
/// NULL comes first, then numbers by their exact values, then text and blobs by their bytes.
/// Source: SQLite, "Datatypes In SQLite", 4.1, and "Database File Format", 2.3.
final class EntryOrder {
    let keyCount: Int
    private let isDescending: UnsafeMutableBufferPointer<Bool>

    init(descending: [Bool]) {
        keyCount = descending.count
        isDescending = .allocate(capacity: descending.count)
        _ = isDescending.initialize(from: descending)
    }

    deinit { isDescending.deallocate() }

    /// - Returns: negative if the left entry comes first. No two entries are equal, since their rowids differ.
    func compare(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer) -> Int {
        var left = RecordReader(left), right = RecordReader(right)
        for column in 0..<keyCount {
            let order = Self.compare(left.next(), right.next())
            if order != 0 { return isDescending[column] ? -order : order }
        }
        return Self.compare(left.next(), right.next())
    }

    /// Whether a unique index cannot have both entries. NULL is equal to nothing.
    func haveEqualKeys(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer) -> Bool {
        var left = RecordReader(left), right = RecordReader(right)
        for _ in 0..<keyCount {
            let value = left.next()
            if value.serial == SerialType.null || Self.compare(value, right.next()) != 0 { return false }
        }
        return true
    }

    func rowid(_ entry: UnsafeRawPointer) -> Int64 {
        var reader = RecordReader(entry)
        for _ in 0..<keyCount { _ = reader.next() }
        let value = reader.next()
        return SerialType.readInteger(value.serial, value.bytes)
    }

    private static func rank(_ serial: UInt64) -> Int {
        if serial == SerialType.null { return 0 }
        return serial < 12 ? 1 : serial & 1 == 1 ? 2 : 3
    }

    static func compare(_ left: RecordReader.Value, _ right: RecordReader.Value) -> Int {
        let rank = rank(left.serial), other = Self.rank(right.serial)
        guard rank == other else { return rank - other }
        switch rank {
        case 0: return 0
        case 1: return compareNumbers(left, right)
        default:
            let size = SerialType.size(left.serial), otherSize = SerialType.size(right.serial)
            let order = Int(memcmp(left.bytes, right.bytes, min(size, otherSize)))
            return order != 0 ? order : size - otherSize
        }
    }

    private static func compareNumbers(_ left: RecordReader.Value, _ right: RecordReader.Value) -> Int {
        switch (left.serial == SerialType.real, right.serial == SerialType.real) {
        case (false, false): return compare(SerialType.readInteger(left.serial, left.bytes), SerialType.readInteger(right.serial, right.bytes))
        case (true, true): return compare(SerialType.readReal(left.bytes), SerialType.readReal(right.bytes))
        case (false, true): return compare(SerialType.readInteger(left.serial, left.bytes), real: SerialType.readReal(right.bytes))
        case (true, false): return -compare(SerialType.readInteger(right.serial, right.bytes), real: SerialType.readReal(left.bytes))
        }
    }

    private static func compare<Number: Comparable>(_ left: Number, _ right: Number) -> Int { left < right ? -1 : left == right ? 0 : 1 }

    /// An exact comparison: a `Double` cannot hold every integer.
    static func compare(_ integer: Int64, real: Double) -> Int {
        if real < -0x1p63 { return 1 }
        if real >= 0x1p63 { return -1 }
        let whole = Int64(real)
        return integer != whole ? compare(integer, whole) : compare(Double(whole), real)
    }

    // MARK: Prefixes

    /// A number that never falls from one entry to the next, so that most comparisons need no record: the kind of the first value, and
    /// seven bytes of it.
    func prefix(_ entry: UnsafeRawPointer) -> UInt64 {
        var reader = RecordReader(entry)
        let value = reader.next(), prefix = UInt64(Self.rank(value.serial)) << 56 | Self.content(value)
        return isDescending[0] ? ~prefix : prefix
    }

    private static func content(_ value: RecordReader.Value) -> UInt64 {
        switch value.serial {
        case SerialType.null: return 0
        case SerialType.real: return rising(SerialType.readReal(value.bytes))
        case ..<12: return rising(Double(SerialType.readInteger(value.serial, value.bytes)))
        default:
            let size = min(7, SerialType.size(value.serial))
            var content: UInt64 = 0
            for index in 0..<size { content = content << 8 | UInt64(value.bytes.load(fromByteOffset: index, as: UInt8.self)) }
            return content << UInt64(8 * (7 - size))
        }
    }

    /// The upper 56 bits of a number that rises with the real one.
    private static func rising(_ real: Double) -> UInt64 {
        // Both zeroes are equal.
        let bits = (real + 0).bitPattern
        return (bits >> 63 == 1 ? ~bits : bits | 1 << 63) >> 8
    }
}
