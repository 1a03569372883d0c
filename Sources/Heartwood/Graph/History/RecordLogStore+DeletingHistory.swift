import RecordLog

extension RecordLogStore {
    /// The number of transactions that one commit deletes at most.
    private static let deletedAtOnce = 4096

    /// Deletes transactions, those with the lowest numbers first. After a crash halfway the rest remain, since deletions go in whole commits.
    /// - Complexity: O(transactions deleted).
    package final func deleteHistory(_ selection: HistorySelection, author: String?) throws {
        let loaded = try loaded()
        var first: UInt64 = 1, isDone = false
        while !isDone {
            let rest = selection.from(first)
            try loaded.log.write(author: author) { transaction in
                var rows: [RowReference] = []
                if let table = try history.table(in: transaction.catalog) {
                    for range in rest.ranges where rows.count < Self.deletedAtOnce {
                        try transaction.base.scan(table.id, from: range.lowerBound) { row in
                            guard row.reference.row < range.upperBound, rows.count < Self.deletedAtOnce else { return false }
                            if rest.times.holds(for: table.timestamp(of: row)) { rows.append(row.reference) }
                            return true
                        }
                    }
                }
                for row in rows { _ = try transaction.delete(row) }
                commits.note(base: transaction.base.sequence, isFollowed: !rows.isEmpty)
                if let last = rows.last { first = last.row + 1 }
                isDone = rows.count < Self.deletedAtOnce
            }
        }
        reportCommits(upTo: loaded.log.snapshot().sequence)
    }
}
