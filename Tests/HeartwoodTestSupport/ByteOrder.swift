import Foundation

extension [UInt8] {
    /// Whether these bytes come before others. Tests are compiled without optimisation and compare many, so this takes one call of the C library.
    public func precedes(_ other: [UInt8]) -> Bool {
        let order = memcmp(self, other, Swift.min(count, other.count))
        return order == 0 ? count < other.count : order < 0
    }

    /// The number of elements of a sorted list that do not come after these bytes.
    /// - Complexity: O(log of the list's length).
    public func rank(in sorted: [[UInt8]]) -> Int {
        var low = 0, high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            if precedes(sorted[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
