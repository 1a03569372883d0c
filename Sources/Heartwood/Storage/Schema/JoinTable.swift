import RecordLog

/// The table of a relationship whose pairs are rows: source, destination and, where ordered, the place in the source's order
/// and, where the inverse is ordered too, in the destination's.
final class JoinTable: Sendable {
    static let sourcePosition = 0, destinationPosition = 1, orderPosition = 2, inverseOrderPosition = 3

    let id: TableID
    let layout: RowLayout
    /// Over source[, position], destination.
    let forward: IndexID
    /// Over destination, source.
    let backward: IndexID
    /// Over destination, inverse position, source; nil where the inverse is not ordered.
    let inverse: IndexID?
    let isOrdered: Bool
    /// Whether a destination has one source at most.
    let isExclusive: Bool

    init(
        id: TableID, layout: RowLayout, forward: IndexID, backward: IndexID, inverse: IndexID?, isOrdered: Bool, isExclusive: Bool
    ) {
        self.id = id
        self.layout = layout
        self.forward = forward
        self.backward = backward
        self.inverse = inverse
        self.isOrdered = isOrdered
        self.isExclusive = isExclusive
    }

    /// The index that lists one side's members in their order.
    func index(isForward: Bool) -> IndexID { isForward ? forward : inverse ?? backward }
}
