import RecordLog

/// The rows that a batch insertion has counted over all its commits, so that each row counts once.
///
/// Created rows are stored as ranges of numbers, at most one range a commit; updated rows are stored one by one.
package final class CountedRows {
    /// Ascending and disjoint.
    @exclusivity(unchecked) private var made: [ClosedRange<UInt64>] = []
    private var updated: Set<RowReference> = []

    /// Adds a created row. Row numbers ascend.
    package func make(_ reference: RowReference) {
        guard let last = made.indices.last, made[last].upperBound + 1 == reference.rawValue else {
            return made.append(reference.rawValue...reference.rawValue)
        }
        made[last] = made[last].lowerBound...reference.rawValue
    }

    /// Adds an updated row.
    /// - Returns: true where the row was not counted before.
    package func update(_ reference: RowReference) -> Bool { !isMade(reference.rawValue) && updated.insert(reference).inserted }

    private func isMade(_ number: UInt64) -> Bool {
        var low = 0, high = made.count
        while low < high {
            let middle = (low + high) / 2
            if made[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < made.count && made[low].contains(number)
    }
}
