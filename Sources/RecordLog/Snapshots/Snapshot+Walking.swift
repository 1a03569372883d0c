extension Snapshot {
    /// Calls `body` with each row of a table, in row order, from row number `first` on, until it returns false.
    /// - Complexity: O(rows), one pass over the primary index's pages.
    public func scan(_ table: TableID, from first: UInt64 = 0, _ body: (RowView) throws -> Bool) throws {
        var walk = RowScan(self, table, from: first)
        defer { counters.rowsRead(walk.found) }
        while let row = try walk.next() {
            guard try body(row) else { return }
        }
    }

    /// The same for the rows whose numbers lie in a range, in groups: what is done to each row is a loop then, and not a call.
    /// - Parameters:
    ///   - rows: a part of a table, for a thread of its own.
    ///   - first: the rows of the first group at most; each later one has up to twice as many, for a caller that may want few.
    ///   - body: gets a group that is its own, to reorder and to write over.
    public func scanGroups(
        _ table: TableID, rows: Range<UInt64> = 0..<UInt64.max, first: Int = .max,
        _ body: (UnsafeMutableBufferPointer<RowView>) throws -> Bool
    ) throws {
        var walk = RowScan(self, table, from: rows.lowerBound, to: rows.upperBound)
        defer { counters.rowsRead(walk.found) }
        try withUnsafeTemporaryAllocation(of: RowView.self, capacity: Self.scanGroupSize) { group in
            var room = max(1, min(first, group.count))
            while true {
                var count = 0
                while count < room, let row = try walk.next() {
                    group.initializeElement(at: count, to: row)
                    count &+= 1
                }
                guard count > 0, try body(UnsafeMutableBufferPointer(rebasing: group[..<count])), count == room else { return }
                room = min(room &* 2, group.count)
            }
        }
    }

    /// So many rows' bytes stay in the processor's first cache.
    private static var scanGroupSize: Int { 128 }

    /// The number that the next row of a table would get: every row's is less. O(1).
    public func rowLimit(_ table: TableID) -> UInt64 { state(table)?.nextRow ?? 0 }

    /// The same for the engine's own use, with its own type of error.
    func scanRows(_ table: TableID, from first: UInt64 = 0, _ body: (RowView) throws(StoreError) -> Bool) throws(StoreError) {
        var walk = RowScan(self, table, from: first)
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
        try inGroups(references) { start, group, addresses in
            counters.rowsRead(group.count)
            for index in group.indices {
                let address = addresses[index]
                try body(start &+ index, address == 0 ? nil : try view(at: address, group[index]))
            }
        }
    }

    /// Brings rows that are about to be read one by one close to the processor: their misses of memory overlap here, and would
    /// not there. Nothing is checked; a row that cannot be found is left to its reader. As many at a time as fit the cache,
    /// a few hundred, is best.
    /// - Complexity: O(references); no row counts as read.
    public func readAhead(_ references: UnsafeBufferPointer<RowReference>) {
        try? inGroups(references) { _, _, _ in }
    }

    /// Looks up the addresses of a group of rows, 0 for none, and touches what lies there, group after group.
    @inline(__always)
    private func inGroups(
        _ references: UnsafeBufferPointer<RowReference>,
        _ body: (_ start: Int, _ group: UnsafeBufferPointer<RowReference>, _ addresses: UnsafeBufferPointer<UInt64>) throws -> Void
    ) throws {
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.groupSize) { addresses in
            var start = 0
            while start < references.count {
                let group = UnsafeBufferPointer(rebasing: references[start..<min(start + Self.groupSize, references.count)])
                askForPages(of: group)
                for index in group.indices { addresses[index] = try address(of: group[index]) ?? 0 }
                let found = UnsafeBufferPointer(rebasing: addresses[..<group.count])
                _ = file.touch(found)
                try body(start, group, found)
                start += group.count
            }
        }
    }

    /// Asks for pages of the primary index that are looked at for the first time, so that they are not waited for one after the other. Where
    /// the first rows' were looked at before, the others' are believed to have been.
    @inline(__always)
    private func askForPages(of group: UnsafeBufferPointer<RowReference>) {
        let sample = min(LogFile.sampleSize, group.count)
        var isNew = false
        for index in 0..<sample { isNew = willResolve(group[index]) || isNew }
        guard isNew else { return }
        for index in sample..<group.count { _ = willResolve(group[index]) }
    }

    /// A cursor over a range of an index.
    /// - Throws: `invalidArgument` for an index that this snapshot does not have.
    public func cursor(_ index: IndexID, _ range: KeyRange = .all, descending: Bool = false) throws(StoreError) -> IndexCursor {
        IndexCursor(try merge(index, range, descending: descending), owner: self)
    }

    /// Calls `body` with each entry of a range of an index, its key and its row, in order, until it returns false.
    /// - Parameter body: the key is valid until it returns.
    /// - Throws: `invalidArgument` for an index that this snapshot does not have; what `body` throws.
    /// - Complexity: O(log n) to find the first, and O(runs) for each, amortised.
    public func entries(
        _ index: IndexID, _ range: KeyRange = .all, _ body: (_ key: UnsafeRawBufferPointer, _ row: UInt64) throws -> Bool
    ) throws {
        var failure: (any Error)?
        try merge(index, range, descending: false).forEach { entry in
            do {
                return try body(IndexEntry.key(of: entry), IndexEntry.row(of: entry))
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    func merge(_ index: IndexID, _ range: KeyRange, descending: Bool) throws(StoreError) -> MergeCursor {
        try runs(of: index).merged(range, isDescending: descending)
    }

    /// The first row of the index entries that start with a key; nil where there is none.
    public func firstRow(_ index: IndexID, prefix key: KeyBuilder) throws(StoreError) -> UInt64? {
        try firstRow(index, prefix: key.buffer)
    }

    /// The same for a key's bytes.
    public func firstRow(_ index: IndexID, prefix key: UnsafeRawBufferPointer) throws(StoreError) -> UInt64? {
        // The snapshot keeps its runs: no reference is counted between misses of memory, which a count would not let overlap.
        try Unmanaged.passUnretained(runs(of: index)).guaranteed { runs throws(StoreError) in try runs.firstRow(prefix: key) }
    }

    /// Calls `body` with the rows of a range of an index, in its order, until it returns false.
    /// - Returns: how many it was called with, and whether it returned false.
    /// - Complexity: O(rows); rows are looked up in groups, so that the misses of memory overlap.
    @discardableResult
    public func rows(
        _ index: IndexID, _ range: KeyRange, descending: Bool = false, limit: Int = .max, _ body: (RowView) throws -> Bool
    ) throws -> (count: Int, isEnded: Bool) {
        guard let table = catalog.index(index)?.table else { return (0, false) }
        let merge = try merge(index, range, descending: descending)
        var left = limit, isDone = false
        try withUnsafeTemporaryAllocation(of: RowReference.self, capacity: Self.groupSize) { references in
            while left > 0, !isDone {
                let wanted = min(Self.groupSize, left)
                let count = try merge.take(table, into: UnsafeMutableBufferPointer(rebasing: references[..<wanted]))
                guard count > 0 else { return }
                try inGroups(UnsafeBufferPointer(rebasing: references[..<count])) { _, group, addresses in
                    counters.rowsRead(group.count)
                    for index in group.indices where addresses[index] != 0 {
                        left -= 1
                        guard try body(try view(at: addresses[index], group[index])) else {
                            isDone = true
                            return
                        }
                    }
                }
                if count < wanted { return }
            }
        }
        return (limit - left, isDone)
    }

    /// How many entries a range of an index has. No row is read.
    /// - Complexity: O(blocks in the range), where each block states how many it has, and O(log n) for each entry that was written
    ///   since the index's base.
    public func count(_ index: IndexID, _ range: KeyRange) throws(StoreError) -> Int { try runs(of: index).count(range) }

    /// About as many entries as a range of an index has: those that newer runs hide, and what hides them, are counted too.
    /// - Complexity: O(runs · log n) and O(blocks in the range).
    public func estimate(_ index: IndexID, _ range: KeyRange) throws(StoreError) -> Int { try runs(of: index).estimate(range) }

    /// Whether an index is there as of this commit.
    public func hasIndex(_ index: IndexID) -> Bool { Int(index.rawValue) < indexes.count && indexes[Int(index.rawValue)] != nil }

    private func runs(of index: IndexID) throws(StoreError) -> RunSet {
        guard Int(index.rawValue) < indexes.count, let runs = indexes[Int(index.rawValue)] else {
            throw StoreError(
                .invalidArgument, path: file.path, "the store has no index \(index.rawValue)",
                remedy: "Use an index of this snapshot's catalog.")
        }
        return runs
    }
}
