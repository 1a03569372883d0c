/// Counts the entries of a range from the counts that blocks state.
extension RunSet {
    private var newerDisk: ArraySlice<SortedRun> { disk.dropLast() }

    func estimate(_ range: KeyRange) throws(StoreError) -> Int {
        guard !range.isEmpty else { return 0 }
        var count = try freshEstimate(in: range)
        for run in disk { count += try run.count(range) }
        return count
    }

    private func freshEstimate(in range: KeyRange) throws(StoreError) -> Int {
        var count = 0
        for run in fresh { count += try run.count(range) }
        for run in flushing { count += try run.count(range) }
        return count
    }

    /// The cost of looking up a newer run's entry in the base, in scanned entries.
    private static let lookUpCost = 16

    func count(_ range: KeyRange) throws(StoreError) -> Int {
        guard !range.isEmpty else { return 0 }
        // The base has no tombstones, since no older run exists.
        let inBase = try disk.last?.count(range) ?? 0
        var newer = try freshEstimate(in: range)
        for run in newerDisk { newer += try run.count(range) }
        guard newer > 0 else { return inBase }
        guard let base = disk.last, newer * Self.lookUpCost < inBase else {
            let merged = try merged(range)
            var count = 0
            while try merged.next() { count += 1 }
            return count
        }
        let small = RunSet(fresh: fresh, flushing: flushing, disk: Array(newerDisk))
        let merged = try small.merged(range, keepsTombstones: true)
        var count = inBase
        while try merged.next() {
            let isKnown = try base.contains(merged.entry)
            if merged.isTombstone, isKnown { count -= 1 }
            if !merged.isTombstone, !isKnown { count += 1 }
        }
        return max(0, count)
    }
}

extension ImmutableMemtable {
    /// The number of entries in a range, tombstones included.
    func count(_ range: KeyRange) -> Int {
        let start = range.lower.map { $0.withUnsafeBytes(lowerBound) } ?? 0
        return max(0, (range.upper.map { $0.withUnsafeBytes(lowerBound) } ?? count) - start)
    }
}

extension SortedRun {
    /// The number of entries in a range, tombstones included.
    func count(_ range: KeyRange) throws(StoreError) -> Int {
        let root = try blocks()
        let start = try position(of: range.lower ?? [], root)
        var end = (block: root.count, before: 0)
        if let upper = range.upper { end = try position(of: upper, root) }
        var count = end.before - start.before
        for index in start.block..<max(start.block, end.block) { count += root.entryCount(index) }
        return max(0, count)
    }

    /// Whether the run has an entry: a key with its row.
    fileprivate func contains(_ entry: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        let root = try blocks()
        let pointer = root.pointer(root.block(for: entry))
        switch try block(pointer).lowerBound(entry) {
        case .found(_, _, _, let matched): return matched >= entry.count
        case .none: return false
        case .malformed: throw corrupt(pointer)
        }
    }

    /// The block that can hold the first entry at or after `key`, and the number of the block's entries before it.
    private func position(of key: [UInt8], _ root: IndexRoot) throws(StoreError) -> (block: Int, before: Int) {
        guard !key.isEmpty else { return (0, 0) }
        let index = key.withUnsafeBytes(root.block)
        let pointer = root.pointer(index)
        let block = try block(pointer)
        switch key.withUnsafeBytes({ block.lowerBound($0) }) {
        case .found(let start, let skipped, _, _):
            guard let interval = block.interval(startingAt: start) else { throw corrupt(pointer) }
            return (index, interval * block.entriesPerInterval + skipped)
        case .none: return (index + 1, 0)
        case .malformed: throw corrupt(pointer)
        }
    }
}

extension IndexBlock {
    /// The interval whose first entry is at an offset; nil if there is none.
    fileprivate func interval(startingAt offset: Int) -> Int? {
        var low = 0, high = intervalCount
        while low < high {
            let middle = (low &+ high) / 2
            guard let start = start(ofInterval: middle) else { return nil }
            if start == offset { return middle }
            if start < offset { low = middle &+ 1 } else { high = middle }
        }
        return nil
    }
}
