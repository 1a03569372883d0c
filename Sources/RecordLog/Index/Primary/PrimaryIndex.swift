/// The primary index of one table: the changes since the last checkpoint, over the base that it wrote.
struct PrimaryIndex: Sendable {
    var base: PrimaryBase?
    var delta: PrimaryDelta
    /// While a checkpoint is being written: the changes that go into the new base. Older than the delta, and not written any more.
    var flushing: PrimaryDelta?

    init(base: PrimaryBase? = nil, delta: PrimaryDelta = PrimaryDelta(), flushing: PrimaryDelta? = nil) {
        self.base = base
        self.delta = delta
        self.flushing = flushing
    }

    /// The row's newest record since the base: 0 for none, else its address, with the tombstone bit for a deletion.
    @inline(__always)
    func known(_ row: UInt64) -> UInt64 {
        let address = delta.load(row)
        return address != 0 ? address : flushing?.load(row) ?? 0
    }

    /// Whether any row in this range may have changed since the base.
    func isChanged(_ rows: Range<UInt64>) -> Bool {
        delta.hasRows(in: rows) || flushing?.hasRows(in: rows) ?? false
    }
}
