/// Assigns positions, ascending numbers, to the members of an ordered relationship, so that as few positions as possible change.
///
/// Positions are far apart, so that a member between two others gets a number between theirs. The whole relationship is renumbered only where
/// no such number is left.
package enum LinkOrder {
    package static let distance: Int64 = 1 << 32

    /// Returns a position after `last`; nil where none is left.
    static func position(after last: Int64?) -> Int64? {
        guard let last else { return 0 }
        let (position, isOverflow) = last.addingReportingOverflow(distance)
        return isOverflow ? nil : position
    }

    /// - Parameter positions: the members' positions in the new order; nil for a member without one.
    /// - Returns: the changed positions, with their indexes in the list.
    /// - Complexity: O(n log n), O(n) where nothing was moved.
    package static func changes(_ positions: [Int64?]) -> [(index: Int, position: Int64)] {
        let kept = risingIndices(positions)
        var result: [(index: Int, position: Int64)] = []
        var index = 0
        for keptIndex in kept + [positions.count] {
            if index < keptIndex {
                let low = index == 0 ? nil : positions[index - 1], high = keptIndex == positions.count ? nil : positions[keptIndex]
                guard let given = between(low, high, count: keptIndex - index) else { return renumbered(positions) }
                for (offset, position) in given.enumerated() { result.append((index + offset, position)) }
            }
            index = keptIndex + 1
        }
        return result
    }

    private static func renumbered(_ positions: [Int64?]) -> [(index: Int, position: Int64)] {
        positions.indices.compactMap { index in
            let position = Int64(index) * distance
            return positions[index] == position ? nil : (index, position)
        }
    }

    /// Returns `count` positions between two others; nil where there is no room.
    private static func between(_ low: Int64?, _ high: Int64?, count: Int) -> [Int64]? {
        let count = Int64(count)
        let (span, isTooFar) = count.multipliedReportingOverflow(by: distance)
        guard !isTooFar else { return nil }
        switch (low, high) {
        case (nil, nil): return (0..<count).map { $0 * distance }
        case (let low?, nil):
            guard !low.addingReportingOverflow(span).overflow else { return nil }
            return (1...count).map { low + $0 * distance }
        case (nil, let high?):
            guard !high.subtractingReportingOverflow(span).overflow else { return nil }
            return (0..<count).map { high - (count - $0) * distance }
        case (let low?, let high?):
            let (gap, isTooWide) = high.subtractingReportingOverflow(low)
            let step = isTooWide ? distance : gap / (count + 1)
            guard step > 0 else { return nil }
            return (1...count).map { low + $0 * step }
        }
    }

    /// Returns the indexes of a longest increasing subsequence of the existing positions.
    private static func risingIndices(_ positions: [Int64?]) -> [Int] {
        let known = positions.indices.filter { positions[$0] != nil }
        return LongestIncreasingSubsequence.indexes(in: known.map { positions[$0] ?? 0 }).map { known[$0] }
    }
}
