/// Reads several runs as one, by a heap whose first reader has the lowest entry.
struct RunMerge {
    private var heap: [RunReader] = []
    private let order: EntryOrder
    /// Whether the first reader's entry was returned.
    private var hasReturned = false

    init(_ runs: ArraySlice<SortedRun>, _ order: EntryOrder, _ space: SortSpace) throws(SQLiteBuildError) {
        self.order = order
        for run in runs {
            let reader = RunReader(run, order, space)
            if try reader.next() { heap.append(reader) }
        }
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    /// - Returns: an entry that stays until the next call; nil behind the last one.
    mutating func next() throws(SQLiteBuildError) -> UnsafeRawBufferPointer? {
        if hasReturned, let first = heap.first {
            if try !first.next() {
                heap.swapAt(0, heap.count - 1)
                heap.removeLast()
            }
            if heap.count > 1 { sink(0) }
        }
        hasReturned = true
        return heap.first?.entry
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var lowest = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && precedes(child, lowest) { lowest = child }
            if lowest == index { return }
            heap.swapAt(index, lowest)
            index = lowest
        }
    }

    private func precedes(_ index: Int, _ other: Int) -> Bool {
        let (left, right) = (heap[index], heap[other])
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        guard let own = left.entry.baseAddress, let its = right.entry.baseAddress else { return false }
        return order.compare(own, its) < 0
    }
}
