import HeartwoodPlatform

/// One column of an index's key.
package struct KeyColumn: Sendable, Equatable {
    /// nil for an expression.
    package let name: String?
    package let collation: String
    package let isDescending: Bool

    var isBinary: Bool { collation.lowercased() == "binary" }
}

/// The order of values: NULL, numbers, text, blobs. Source: SQLite, "Datatypes In SQLite", 4.1.
extension SQLiteRow {
    func compare(_ column: Int, with value: SQLiteValue, _ key: KeyColumn, _ path: String) throws(SQLiteFileError) -> Int {
        let kind = try kind(column)
        let (ours, theirs) = (Self.rank(kind), Self.rank(value.kind))
        guard ours == theirs else { return ours < theirs ? -1 : 1 }
        switch value {
        case .null: return 0
        case .integer(let number):
            if let own = try integer(column) { return own == number ? 0 : own < number ? -1 : 1 }
            return -Self.order(number, try real(column) ?? 0)
        case .real(let number):
            if let own = try integer(column) { return Self.order(own, number) }
            let own = try real(column) ?? 0
            return own == number ? 0 : own < number ? -1 : 1
        case .text(let bytes):
            guard key.isBinary else {
                throw SQLiteFileError(
                    .unsupported, path: path, "the index orders text by the collation \(key.collation), and only BINARY is known",
                    remedy: "Scan the table instead.")
            }
            return Self.order(try text(column), bytes)
        case .blob(let bytes): return Self.order(try blob(column), bytes)
        }
    }

    private static func rank(_ kind: SQLiteValue.Kind) -> Int {
        switch kind {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    /// An exact comparison: a `Double` cannot hold every integer.
    static func order(_ integer: Int64, _ real: Double) -> Int {
        // SQLite has no such value: it would be NULL.
        if real.isNaN || real < -0x1p63 { return 1 }
        if real >= 0x1p63 { return -1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let back = Double(whole)
        return back == real ? 0 : back < real ? -1 : 1
    }

    private static func order(_ own: UnsafeRawBufferPointer?, _ other: [UInt8]) -> Int {
        let own = own ?? UnsafeRawBufferPointer(start: nil, count: 0)
        let order = other.withUnsafeBytes { other -> Int32 in
            guard let left = own.baseAddress, let right = other.baseAddress else { return 0 }
            return memcmp(left, right, min(own.count, other.count))
        }
        return order != 0 ? Int(order) : own.count == other.count ? 0 : own.count < other.count ? -1 : 1
    }
}
