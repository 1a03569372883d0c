import RecordLog

/// The new references of one entity's to-one relationship that changes its storage or loses some of its destinations.
struct MovedReferences {
    /// Tables that the relationship may no longer refer to.
    private let gone: Set<TableID>
    /// References to missing rows, in a relationship that had no inverse and gets one.
    private let dangling: Set<RowReference>
    /// Sorted by row number.
    private let references: [(row: UInt64, reference: RowReference)]

    /// - Throws: the error that `twice` makes, where a row would have two references.
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
