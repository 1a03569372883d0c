import RecordLog

/// The commits that a context reads, and the memory of the rows that its objects point at.
struct ReadState {
    /// The commits that this context reads; nil for the newest ones.
    var generation: NSQueryGenerationToken?
    /// The views that reads use until their stores have newer commits, by the store's first slot.
    var views = StoreViews()
    /// The last view used, which spares most reads a look-up.
    var lastView: LastView?
    /// The newest change of which the context has learned.
    var clock: UInt32 = 0
    /// The commits of the coordinator, and the changes of the tree, that the context knows.
    var commitsSeen = 0, changesSeen = 0
    /// Keeps the memory of the rows that objects point at.
    var memory = RowMemory()
    /// The number of callers that hold rows that must not move.
    var rowUses = 0
}

/// The view that a context has used last, and its store's slot base. Each read counts a reference to this object, which no other context has, and
/// not to the view.
final class LastView {
    let slotBase: UInt64
    let view: any StoreView

    init(_ slotBase: UInt64, _ view: any StoreView) {
        (self.slotBase, self.view) = (slotBase, view)
    }
}
