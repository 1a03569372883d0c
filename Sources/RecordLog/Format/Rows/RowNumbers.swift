/// The next row number of each table: row 2 of the system table. Compaction writes it, since it drops the deletions that show the
/// highest number used. Spec: FORMAT.md, "System table".
struct RowNumbers {
    var next: [(table: TableID, row: UInt64)]

    static let row: UInt64 = 2
    /// The largest sum, so that a hostile list reserves little memory.
    static let sumMax: UInt64 = 1 << 33

    init(next: [(table: TableID, row: UInt64)]) {
        self.next = next
    }

    /// Whether a reader accepts the list.
    var areBelieved: Bool {
        var left = Self.sumMax
        for (_, row) in next {
            guard row <= left else { return false }
            left -= row
        }
        return true
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt32(next.count))
        for (table, row) in next {
            writer.append(table.rawValue)
            writer.append(row)
        }
        return writer.bytes
    }

    /// - Returns: nil if the bytes are not such a list.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let count = reader.count(of: 10) else { return nil }
        next = []
        for _ in 0..<count {
            guard let table = reader.integer(UInt16.self), let row = reader.integer(UInt64.self) else { return nil }
            next.append((TableID(rawValue: table), row))
        }
        guard areBelieved else { return nil }
    }
}
