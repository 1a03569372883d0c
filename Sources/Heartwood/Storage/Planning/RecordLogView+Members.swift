import RecordLog

/// Members of many owners at once.
extension RecordLogView {
    /// - Parameter owners: of one table, in rising order, each once.
    /// - Complexity: one walk along the relationship's index, which jumps over what is between owners that lie far apart. No row is read.
    func members(ofEach owners: [RowReference], in source: MemberSource) throws -> [[RowReference]] {
        var result = [[RowReference]](repeating: [], count: owners.count)
        switch source {
        case .inverse(let tables):
            for (table, index) in tables {
                try forEachEntry(index, of: owners) { result[$0].append(RowReference(table: table, row: $2)) }
            }
        case .link(let link, let isForward):
            try forEachEntry(link.index(isForward: isForward), of: owners) { position, key, _ in
                // The other end is the last component of the key.
                if let member = Self.lastReference(of: key) { result[position].append(member) }
            }
        }
        return result
    }

    /// So many entries of others are walked past; behind them a look-up costs less.
    private static let strideMax = 32

    /// Calls `body` with the place of an owner, an entry's key and its row.
    func forEachEntry(
        _ index: IndexID, of owners: [RowReference], _ body: (Int, UnsafeRawBufferPointer, UInt64) throws -> Void
    ) throws {
        guard let last = owners.last else { return }
        if owners.count == 1 {
            return try snapshot.entries(index, Self.range(of: last)) { key, row in
                try body(0, key, row)
                return true
            }
        }
        let end = Self.range(of: last).upper
        var position = 0
        while position < owners.count {
            var cursor = try snapshot.cursor(index, KeyRange(lower: Self.range(of: owners[position]).lower, upper: end))
            var strides = 0
            while true {
                guard let row = try cursor.next() else { return }
                guard let owner = Self.firstReference(of: cursor.key) else { continue }
                while position < owners.count, owners[position].rawValue < owner.rawValue { position += 1 }
                guard position < owners.count else { return }
                guard owners[position] == owner else {
                    strides += 1
                    if strides > Self.strideMax { break }
                    continue
                }
                strides = 0
                try body(position, cursor.key, row)
            }
        }
    }

    /// The owner, which is the first component of a relationship's index.
    static func firstReference(of key: UnsafeRawBufferPointer) -> RowReference? {
        guard key.count >= KeyBuilder.wordSize, key[0] == KeyBuilder.valueTag else { return nil }
        return RowReference(rawValue: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
    }
}
