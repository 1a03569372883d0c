/// The order of scores.
enum TopRanks {
    /// Returns the indexes of the greatest scores, the greatest first, equal ones by index.
    /// - Complexity: O(n · log(count)).
    static func indexes(_ scores: [Double], first count: Int) -> [Int] {
        guard count > 0 else { return [] }
        guard count < scores.count / 4 else {
            return Array(scores.indices.sorted { (scores[$0], $1) > (scores[$1], $0) }.prefix(count))
        }
        // A heap of the best so far; the worst of them is at the root.
        var heap: [Int] = []
        heap.reserveCapacity(count)
        func isWorse(_ a: Int, _ b: Int) -> Bool { scores[a] < scores[b] || scores[a] == scores[b] && a > b }
        func sink() {
            var at = 0
            while true {
                var worst = at
                for child in [2 * at + 1, 2 * at + 2] where child < heap.count && isWorse(heap[child], heap[worst]) { worst = child }
                if worst == at { return }
                heap.swapAt(at, worst)
                at = worst
            }
        }
        for index in scores.indices {
            if heap.count < count {
                heap.append(index)
                var at = heap.count - 1
                while at > 0, isWorse(heap[at], heap[(at - 1) / 2]) {
                    heap.swapAt(at, (at - 1) / 2)
                    at = (at - 1) / 2
                }
            } else if isWorse(heap[0], index) {
                heap[0] = index
                sink()
            }
        }
        return heap.sorted { isWorse($1, $0) }
    }
}
