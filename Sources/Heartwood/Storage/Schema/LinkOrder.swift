/// Assigns positions, ascending numbers, to the members of an ordered relationship, so that as few positions as possible change.
///
/// Positions are far apart, so that a member between two others gets a number between theirs. The whole relationship is renumbered only where
/// no such number is left.
enum LinkOrder {
    static let distance: Int64 = 1 << 32

    /// Returns a position after `last`; nil where none is left.
    static func place(after last: Int64?) -> Int64? {
        guard let last else { return 0 }
        let (place, isOverflow) = last.addingReportingOverflow(distance)
        return isOverflow ? nil : place
    }

    /// - Parameter places: the members' positions in the new order; nil for a member without one.
    /// - Returns: the changed positions, with their indexes in the list.
    /// - Complexity: O(n log n), O(n) where nothing was moved.
    static func changes(_ places: [Int64?]) -> [(index: Int, place: Int64)] {
        let kept = risingIndices(places)
        var result: [(index: Int, place: Int64)] = []
        var index = 0
        for keptIndex in kept + [places.count] {
            if index < keptIndex {
                let low = index == 0 ? nil : places[index - 1], high = keptIndex == places.count ? nil : places[keptIndex]
                guard let given = between(low, high, count: keptIndex - index) else { return renumbered(places) }
                for (offset, place) in given.enumerated() { result.append((index + offset, place)) }
            }
            index = keptIndex + 1
        }
        return result
    }

    private static func renumbered(_ places: [Int64?]) -> [(index: Int, place: Int64)] {
        places.indices.compactMap { index in
            let place = Int64(index) * distance
            return places[index] == place ? nil : (index, place)
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
    private static func risingIndices(_ places: [Int64?]) -> [Int] {
        let known = places.indices.filter { places[$0] != nil }
        return LongestIncreasingSubsequence.places(in: known.map { places[$0] ?? 0 }).map { known[$0] }
    }
}
