/// The columns of a table, as its rows are written.
final class RecordLayout {
    let columns: Int
    /// -1 if no column stands for the rowid.
    let rowidColumn: Int
    let affinities: UnsafeMutableBufferPointer<ColumnAffinity>

    init(affinities: [ColumnAffinity], rowidColumn: Int?) {
        columns = affinities.count
        self.rowidColumn = rowidColumn ?? -1
        self.affinities = .allocate(capacity: affinities.count)
        _ = self.affinities.initialize(from: affinities)
    }

    deinit { affinities.deallocate() }
}
