/// Heights in a column that are nearest to those wished for, in the order that is given.
enum ColumnHeights {
    static let boxGap = 26.0
    private static let lineGap = 10.0

    /// The least space between two items.
    static func gap(_ upper: ColumnOrder.Item, _ lower: ColumnOrder.Item) -> Double {
        upper.box != nil && lower.box != nil ? boxGap : upper.box == nil && lower.box == nil ? lineGap : boxGap * 0.7
    }

    /// The tops with the least sum of squared distances to the wishes. Neighbours that would overlap are moved together.
    /// Source: R. E. Barlow et al., "Statistical inference under order restrictions", 1972: pooling of adjacent violators
    static func tops(_ items: [ColumnOrder.Item], wishes: [Double]) -> [Double] {
        var offsets: [Double] = [], offset = 0.0
        for (index, item) in items.enumerated() {
            if index > 0 { offset += items[index - 1].height + gap(items[index - 1], item) }
            offsets.append(offset)
        }
        var pools: [(sum: Double, count: Int)] = []
        for (wish, offset) in zip(wishes, offsets) {
            pools.append((wish - offset, 1))
            while pools.count > 1, let last = pools.last {
                let before = pools[pools.count - 2]
                guard before.sum / Double(before.count) > last.sum / Double(last.count) else { break }
                pools.removeLast(2)
                pools.append((before.sum + last.sum, before.count + last.count))
            }
        }
        let shifts = pools.flatMap { pool in [Double](repeating: pool.sum / Double(pool.count), count: pool.count) }
        return zip(offsets, shifts).map { $0 + $1 }
    }
}
