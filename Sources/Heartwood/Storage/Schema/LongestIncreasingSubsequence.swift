/// A longest subsequence of ascending numbers: the elements that can stay while the others move.
enum LongestIncreasingSubsequence {
    /// Returns the indexes of the subsequence's elements. It contains at most one of equal numbers.
    /// - Complexity: O(n log n); O(n) where all numbers ascend.
    static func indexes<Number: Comparable>(in numbers: [Number]) -> [Int] {
        /// By length minus one: the index of the smallest number that ends an ascending subsequence of this length.
        var ends: [Int] = []
        var before = [Int](repeating: -1, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var low = 0, high = ends.count
            if let last = ends.last, numbers[last] < number { low = high }
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var rise: [Int] = []
        var index = ends.last ?? -1
        while index >= 0 {
            rise.append(index)
            index = before[index]
        }
        return rise.reversed()
    }
}
