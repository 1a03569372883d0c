import RecordLog

extension RecordLogStore {
    /// So many transactions go in one commit.
    private static let deletedAtOnce = 4096

    /// Deletes the transactions whose numbers are lower, the oldest first: whatever ends it halfway leaves a history without its beginning.
    /// - Complexity: O(transactions deleted).
    final func deleteHistory(before limit: UInt64, author: String?) throws {
        let loaded = try loaded()
        var first: UInt64 = 1, isDone = false
        while !isDone {
            try loaded.log.write(author: author) { transaction in
                var rows: [RowReference] = []
                if let table = try history.table(in: transaction.catalog) {
                    try transaction.base.scan(table.id, from: first) { row in
                        guard row.reference.row < limit, rows.count < Self.deletedAtOnce else { return false }
                        rows.append(row.reference)
                        return true
                    }
                }
                for row in rows { _ = try transaction.delete(row) }
                commits.note(base: transaction.base.sequence, isFollowed: !rows.isEmpty)
                if let last = rows.last { first = last.row + 1 }
                isDone = rows.count < Self.deletedAtOnce
            }
        }
        if commits.takeForeign(upTo: loaded.log.snapshot().sequence) { announceRemoteChange() }
    }
}
