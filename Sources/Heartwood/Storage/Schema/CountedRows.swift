import RecordLog

/// The rows that a batch insertion has counted, over all of its commits: a row that it meets again counts no more.
///
/// Rows that it has made are kept as stretches of numbers, of which each commit adds one at most; of rows that were there before, each one.
final class CountedRows {
    /// Ascending, apart from each other.
    @exclusivity(unchecked) private var made: [ClosedRange<UInt64>] = []
    private var updated: Set<RowReference> = []

    /// Notes a row that was made; numbers are given in turn.
    func make(_ reference: RowReference) {
        guard let last = made.indices.last, made[last].upperBound + 1 == reference.rawValue else {
            return made.append(reference.rawValue...reference.rawValue)
        }
        made[last] = made[last].lowerBound...reference.rawValue
    }

    /// Notes a row that was changed.
    /// - Returns: whether it was not counted before.
    func update(_ reference: RowReference) -> Bool { !isMade(reference.rawValue) && updated.insert(reference).inserted }

    private func isMade(_ number: UInt64) -> Bool {
        var low = 0, high = made.count
        while low < high {
            let middle = (low + high) / 2
            if made[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < made.count && made[low].contains(number)
    }
}
