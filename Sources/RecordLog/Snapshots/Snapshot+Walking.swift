extension Snapshot {
    /// Calls `body` with each row of a table, in row order, from row number `first` on, until it returns false.
    /// - Complexity: O(rows), one pass over the primary index's pages.
    public func scan(_ table: TableID, from first: UInt64 = 0, _ body: (RowView) throws -> Bool) throws {
        var walk = RowWalk(self, table, from: first)
        defer { counters.rowsRead(walk.found) }
        while let row = try walk.next() {
            guard try body(row) else { return }
        }
    }

    /// The same for the engine's own use, with its own type of error.
    func scanRows(_ table: TableID, from first: UInt64 = 0, _ body: (RowView) throws(StoreError) -> Bool) throws(StoreError) {
        var walk = RowWalk(self, table, from: first)
        defer { counters.rowsRead(walk.found) }
        while let row = try walk.next() {
            guard try body(row) else { return }
        }
    }

    /// Whether one of these rows, all of one page, may be there.
    func mayHaveRows(_ table: TableID, in rows: Range<UInt64>) -> Bool {
        guard let state = state(table) else { return false }
        if state.primary.isChanged(rows) { return true }
        return state.primary.base.map { !$0.page(Int(truncatingIfNeeded: rows.lowerBound / PrimaryBase.rowsPerPage)).isNone } ?? false
    }

    /// Rows are looked up in groups of this size, so that the misses of memory overlap.
    private static var groupSize: Int { 64 }

    /// Calls `body` with each reference's place in the list and its row.
    ///
    /// Addresses are looked up first and rows read after, in groups, so that the misses of memory overlap.
    public func rows(_ references: UnsafeBufferPointer<RowReference>, _ body: (Int, RowView?) throws -> Void) throws {
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.groupSize) { addresses in
            var start = 0
            while start < references.count {
                let end = min(start + Self.groupSize, references.count)
                for index in start..<end { addresses[index &- start] = try address(of: references[index]) ?? 0 }
                _ = file.touch(UnsafeBufferPointer(rebasing: addresses[..<(end - start)]))
                counters.rowsRead(end - start)
                for index in start..<end {
                    let address = addresses[index &- start]
                    try body(index, address == 0 ? nil : try view(at: address, references[index]))
                }
                start = end
            }
        }
    }

    /// A cursor over a range of an index.
    /// - Throws: `invalidArgument` for an index that this snapshot does not have.
    public func cursor(_ index: IndexID, _ range: KeyRange = .all, descending: Bool = false) throws(StoreError) -> IndexCursor {
        let runs = try runs(of: index)
        return IndexCursor(
            MergeCursor(cursors: try runs.cursors(range, isDescending: descending), isDescending: descending, keepsTombstones: false),
            owner: self)
    }

    /// The first row of the index entries that start with a key; nil where there is none.
    public func firstRow(_ index: IndexID, prefix key: KeyBuilder) throws(StoreError) -> UInt64? {
        try runs(of: index).firstRow(prefix: key.buffer)
    }

    /// Calls `body` with the rows of a range of an index, in its order, until it returns false.
    /// - Complexity: O(rows); rows are looked up in groups, so that the misses of memory overlap.
    public func rows(
        _ index: IndexID, _ range: KeyRange, descending: Bool = false, limit: Int = .max, _ body: (RowView) throws -> Bool
    ) throws {
        guard let table = catalog.index(index)?.table else { return }
        var cursor = try cursor(index, range, descending: descending)
        var left = limit
        try withUnsafeTemporaryAllocation(of: RowReference.self, capacity: Self.groupSize) { references in
            var isDone = false
            while left > 0, !isDone {
                var count = 0
                while count < min(Self.groupSize, left), let number = try cursor.next() {
                    (references.baseAddress! + count).initialize(to: RowReference(table: table, row: number))
                    count += 1
                }
                guard count > 0 else { return }
                try rows(UnsafeBufferPointer(rebasing: references[..<count])) { _, row in
                    guard !isDone, let row else { return }
                    isDone = try !body(row)
                    left -= 1
                }
                if count < Self.groupSize { return }
            }
        }
    }

    /// How many entries a range of an index has. O(entries in the range); no row is read.
    public func count(_ index: IndexID, _ range: KeyRange) throws(StoreError) -> Int {
        let merge = MergeCursor(
            cursors: try runs(of: index).cursors(range, isDescending: false), isDescending: false, keepsTombstones: false)
        var count = 0
        while try merge.next() { count += 1 }
        return count
    }

    private func runs(of index: IndexID) throws(StoreError) -> IndexRuns {
        guard Int(index.rawValue) < indexes.count, let runs = indexes[Int(index.rawValue)] else {
            throw StoreError(
                .invalidArgument, path: file.path, "the store has no index \(index.rawValue)",
                remedy: "Use an index of this snapshot's catalog.")
        }
        return runs
    }
}
