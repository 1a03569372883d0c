internal import HeartwoodPostgreSQLClient

/// A sum over rows of a COPY, which does not depend on their order. Equal sums in one process mean equal rows.
struct RowSum: Equatable {
    private(set) var count = 0
    private var sum: UInt64 = 0
    private var row = Hasher()
    /// The first byte of the writer that the sum does not have yet.
    private var start = 0

    static func == (a: Self, b: Self) -> Bool { a.count == b.count && a.sum == b.sum }

    /// Adds a part of a row.
    mutating func add(_ bytes: UnsafeRawBufferPointer) { row.combine(bytes: bytes) }

    mutating func endRow() {
        sum &+= UInt64(bitPattern: Int64(row.finalize()))
        row = Hasher()
        count += 1
    }

    // MARK: Rows of a writer

    mutating func beginRow(_ writer: inout PostgreSQLCopyWriter, columns: Int) {
        writer.rows.beginRow(columns: columns)
        start = writer.rows.bytes.count
    }

    mutating func endRow(_ writer: inout PostgreSQLCopyWriter) {
        take(writer)
        endRow()
    }

    /// Sends the writer's bytes.
    mutating func send(_ writer: inout PostgreSQLCopyWriter) throws {
        take(writer)
        try writer.send()
        start = 0
    }

    private mutating func take(_ writer: PostgreSQLCopyWriter) {
        writer.rows.bytes.withUnsafeBytes { all in
            guard start < all.count else { return }
            row.combine(bytes: UnsafeRawBufferPointer(rebasing: all[start...]))
        }
        start = writer.rows.bytes.count
    }
}
