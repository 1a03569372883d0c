import RecordLog

/// Reads link rows of one commit.
extension JoinTable {
    /// Returns the row of a pair; nil where the two are not connected. One lookup.
    func row(from source: RowReference, to destination: RowReference, _ snapshot: Snapshot) throws(StoreError) -> RowReference? {
        let key = KeyBuilder()
        key.append(reference: destination)
        key.append(reference: source)
        return try snapshot.firstRow(backward, prefix: key).map { RowReference(table: id, row: $0) }
    }

    /// Returns the members of an owner with their positions in its order. O(members); reads no row.
    func positions(
        of owner: RowReference, isForward: Bool, _ snapshot: Snapshot
    ) throws(StoreError) -> [(member: RowReference, position: Int64)] {
        var result: [(member: RowReference, position: Int64)] = []
        var cursor = try snapshot.cursor(index(isForward: isForward), RecordLogView.range(of: owner))
        while try cursor.next() != nil {
            guard let entry = Self.entry(cursor.unsafeKey) else { continue }
            result.append(entry)
        }
        return result
    }

    /// Returns the last member's position; nil where there are no members. One lookup.
    func lastPosition(of owner: RowReference, isForward: Bool, _ snapshot: Snapshot) throws(StoreError) -> Int64? {
        var cursor = try snapshot.cursor(index(isForward: isForward), RecordLogView.range(of: owner), descending: true)
        return try cursor.next() == nil ? nil : Self.entry(cursor.unsafeKey)?.position
    }

    /// Decodes a key of an ordered index: owner, position, member.
    private static func entry(_ key: UnsafeRawBufferPointer) -> (member: RowReference, position: Int64)? {
        guard let member = RecordLogView.lastReference(of: key), let position = KeyBuilder.int64(at: KeyBuilder.wordSize, in: key)
        else { return nil }
        return (member, position)
    }
}
