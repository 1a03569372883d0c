import RecordLog

/// The table of a relationship whose pairs are rows: source, destination, the position in the source's order where that is ordered, and the
/// position in the destination's order where the inverse is ordered too.
package final class JoinTable: Sendable {
    package static let sourcePosition = 0, destinationPosition = 1, orderPosition = 2, inverseOrderPosition = 3

    package let id: TableID
    package let layout: RowLayout
    /// The index over source[, position], destination.
    package let forward: IndexID
    /// The index over destination, source.
    package let backward: IndexID
    /// The index over destination, inverse position, source; nil where the inverse is not ordered.
    package let inverse: IndexID?
    package let isOrdered: Bool
    /// Whether a destination has at most one source.
    package let isExclusive: Bool

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

    /// Returns the index that lists one side's members in order.
    func index(isForward: Bool) -> IndexID { isForward ? forward : inverse ?? backward }
}
