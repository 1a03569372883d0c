/// The primary index of one table: what changed since the last checkpoint over the base that it wrote.
struct PrimaryIndex: Sendable {
    var base: PrimaryBase?
    var delta: PrimaryDelta
    /// While a checkpoint is being written: what it takes into the new base. Older than the delta, and written no more.
    var frozen: PrimaryDelta?

    init(base: PrimaryBase? = nil, delta: PrimaryDelta = PrimaryDelta(), frozen: PrimaryDelta? = nil) {
        self.base = base
        self.delta = delta
        self.frozen = frozen
    }

    /// What is known of a row since the base: 0 for nothing, else an address, with the tombstone's bit.
    @inline(__always)
    func known(_ row: UInt64) -> UInt64 {
        let address = delta.load(row)
        return address != 0 ? address : frozen?.load(row) ?? 0
    }

    /// Whether any row of a stretch of rows changed since the base.
    func isChanged(_ rows: Range<UInt64>) -> Bool {
        delta.hasRows(in: rows) || frozen?.hasRows(in: rows) ?? false
    }
}
