import RecordLog

/// What link rows are asked for, in one commit.
extension JoinTable {
    /// The row of a pair; nil where the two are not connected. One look-up.
    func row(from source: RowReference, to destination: RowReference, _ snapshot: Snapshot) throws(StoreError) -> RowReference? {
        let key = KeyBuilder()
        key.append(reference: destination)
        key.append(reference: source)
        return try snapshot.firstRow(backward, prefix: key).map { RowReference(table: id, row: $0) }
    }

    /// The members of one side with their places in its order. O(members); no row is read.
    func places(
        of owner: RowReference, isForward: Bool, _ snapshot: Snapshot
    ) throws(StoreError) -> [(member: RowReference, place: Int64)] {
        var result: [(member: RowReference, place: Int64)] = []
        var cursor = try snapshot.cursor(index(isForward: isForward), RecordLogView.range(of: owner))
        while try cursor.next() != nil {
            guard let entry = Self.entry(cursor.key) else { continue }
            result.append(entry)
        }
        return result
    }

    /// The place of the last member; nil where there is none. One look-up.
    func lastPlace(of owner: RowReference, isForward: Bool, _ snapshot: Snapshot) throws(StoreError) -> Int64? {
        var cursor = try snapshot.cursor(index(isForward: isForward), RecordLogView.range(of: owner), descending: true)
        return try cursor.next() == nil ? nil : Self.entry(cursor.key)?.place
    }

    /// The owner comes first in the key of an ordered index, then the place, then the member.
    private static func entry(_ key: UnsafeRawBufferPointer) -> (member: RowReference, place: Int64)? {
        guard let member = RecordLogView.lastReference(of: key), let place = KeyBuilder.int64(at: KeyBuilder.wordSize, in: key)
        else { return nil }
        return (member, place)
    }
}
