import RecordLog

/// What a relationship to one of an entity leads to once it is kept elsewhere than so far, or some of what it led to is gone.
struct MovedReferences {
    /// Tables whose rows it does not lead to any more.
    private let gone: Set<TableID>
    /// Rows that are not there, where the relationship had no inverse and gets one.
    private let dangling: Set<RowReference>
    /// By row number.
    private let references: [(row: UInt64, reference: RowReference)]

    /// - Throws: what `twice` makes, where a row would have two.
    init(
        gone: Set<TableID>, dangling: Set<RowReference>, _ references: [(row: UInt64, reference: RowReference)], twice: (UInt64) -> any Error
    ) throws {
        self.gone = gone
        self.dangling = dangling
        self.references = references.sorted { ($0.row, $0.reference.rawValue) < ($1.row, $1.reference.rawValue) }
        for (one, next) in zip(self.references, self.references.dropFirst()) where one.row == next.row { throw twice(one.row) }
    }

    func isGone(_ reference: RowReference) -> Bool { gone.contains(reference.table) || dangling.contains(reference) }

    /// - Complexity: O(log n).
    func reference(of row: UInt64) -> RowReference? {
        var low = 0, high = references.count
        while low < high {
            let middle = (low + high) / 2
            if references[middle].row < row { low = middle + 1 } else { high = middle }
        }
        return low < references.count && references[low].row == row ? references[low].reference : nil
    }
}
