import RecordLog

/// Finds the members of many owners at once.
extension RecordLogView {
    /// - Parameter owners: of one table, ascending, each once.
    /// - Complexity: one scan of the relationship's index, which skips the entries between distant owners. Reads no row.
    func members(ofEach owners: [RowReference], in source: MemberSource) throws -> [[RowReference]] {
        var result = [[RowReference]](repeating: [], count: owners.count)
        switch source {
        case .inverse(let tables):
            for (table, index) in tables {
                try forEachEntry(index, of: owners) { result[$0].append(RowReference(table: table, row: $2)) }
            }
        case .link(let link, let isForward):
            try forEachEntry(link.index(isForward: isForward), of: owners) { position, key, _ in
                // The last component of the key is the member.
                if let member = Self.lastReference(of: key) { result[position].append(member) }
            }
        }
        return result
    }

    /// The number of foreign entries to pass before a lookup is cheaper.
    private static let strideMax = 32

    /// Calls `body` with an owner's index in `owners`, an entry's key and its row.
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
                guard let owner = Self.firstReference(of: cursor.unsafeKey) else { continue }
                while position < owners.count, owners[position].rawValue < owner.rawValue { position += 1 }
                guard position < owners.count else { return }
                guard owners[position] == owner else {
                    strides += 1
                    if strides > Self.strideMax { break }
                    continue
                }
                strides = 0
                try body(position, cursor.unsafeKey, row)
            }
        }
    }

    /// Returns the owner, the first component of a key in a relationship's index.
    static func firstReference(of key: UnsafeRawBufferPointer) -> RowReference? {
        guard key.count >= KeyBuilder.wordSize, key[0] == KeyBuilder.valueTag else { return nil }
        return RowReference(rawValue: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
    }
}
