extension Snapshot {
    /// Calls `body` with each row of a table, in row order, from row number `first` on, until it returns false.
    /// - Complexity: O(rows), one pass over the primary index's pages.
    public func scan(_ table: TableID, from first: UInt64 = 0, _ body: (UnsafeRowView) throws -> Bool) throws {
        var scan = RowScan(self, table, from: first)
        defer { counters.rowsRead(scan.found) }
        while let row = try scan.next() {
            guard try body(row) else { return }
        }
    }

    /// Calls `body` with the rows whose numbers are in a range, in batches, so that the caller processes rows in a loop without a call for each.
    /// - Parameters:
    ///   - rows: the range; several threads may each scan a part of a table.
    ///   - first: the most rows of the first batch. Each later batch has up to twice as many, for a caller that may need few.
    ///   - body: gets a batch that it may reorder and overwrite.
    public func scanBatches(
        _ table: TableID, rows: Range<UInt64> = 0..<UInt64.max, first: Int = .max,
        _ body: (UnsafeMutableBufferPointer<UnsafeRowView>) throws -> Bool
    ) throws {
        var scan = RowScan(self, table, from: rows.lowerBound, to: rows.upperBound)
        defer { counters.rowsRead(scan.found) }
        try withUnsafeTemporaryAllocation(of: UnsafeRowView.self, capacity: Self.scanBatchSize) { batch in
            var room = max(1, min(first, batch.count))
            while true {
                let count = try scan.fill(UnsafeMutableBufferPointer(rebasing: batch[..<room]))
                guard count > 0, try body(UnsafeMutableBufferPointer(rebasing: batch[..<count])), count == room else { return }
                room = min(room &* 2, batch.count)
            }
        }
    }

    /// The bytes of this many rows stay in the processor's first cache.
    static var scanBatchSize: Int { 128 }

    /// The number of the table's next row: every row's number is less. O(1).
    public func rowLimit(_ table: TableID) -> UInt64 { state(table)?.nextRow ?? 0 }

    /// Like `scan`, for the engine, with a typed error.
    func scanRows(_ table: TableID, from first: UInt64 = 0, _ body: (UnsafeRowView) throws(StoreError) -> Bool) throws(StoreError) {
        var scan = RowScan(self, table, from: first)
        defer { counters.rowsRead(scan.found) }
        while let row = try scan.next() {
            guard try body(row) else { return }
        }
    }

    /// Whether one of these rows, all of one page, may exist.
    func mayHaveRows(_ table: TableID, in rows: Range<UInt64>) -> Bool {
        guard let state = state(table) else { return false }
        if state.primary.isChanged(rows) { return true }
        return state.primary.base.map { !$0.page(Int(truncatingIfNeeded: rows.lowerBound / PrimaryBase.rowsPerPage)).isNone } ?? false
    }

    /// The size of the batches in which rows are looked up, so that cache misses overlap.
    private static var batchSize: Int { 64 }

    /// Calls `body` with each reference's index in the list and its row.
    ///
    /// Looks up addresses first and reads rows after that, in batches, so that cache misses overlap.
    public func rows(_ references: UnsafeBufferPointer<RowReference>, _ body: (Int, UnsafeRowView?) throws -> Void) throws {
        try inBatches(references) { start, batch, addresses in
            counters.rowsRead(batch.count)
            for index in batch.indices {
                let address = addresses[index]
                try body(start &+ index, address == 0 ? nil : try view(at: address, batch[index]))
            }
        }
    }

    /// Prefetches rows that are then read one by one, so that their cache misses overlap. Checks nothing; the later read reports a row that
    /// cannot be found. Best with as many rows as fit the cache, a few hundred.
    /// - Complexity: O(references); no row counts as read.
    public func readAhead(_ references: UnsafeBufferPointer<RowReference>) {
        try? inBatches(references) { _, _, _ in }
    }

    /// Looks up the addresses of each batch of rows, 0 for none, and touches the rows.
    @inline(__always)
    private func inBatches(
        _ references: UnsafeBufferPointer<RowReference>,
        _ body: (_ start: Int, _ batch: UnsafeBufferPointer<RowReference>, _ addresses: UnsafeBufferPointer<UInt64>) throws -> Void
    ) throws {
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.batchSize) { addresses in
            var start = 0
            while start < references.count {
                let batch = UnsafeBufferPointer(rebasing: references[start..<min(start + Self.batchSize, references.count)])
                askForPages(of: batch)
                for index in batch.indices { addresses[index] = try address(of: batch[index]) ?? 0 }
                let found = UnsafeBufferPointer(rebasing: addresses[..<batch.count])
                _ = file.touch(found)
                try body(start, batch, found)
                start += batch.count
            }
        }
    }

    /// Requests new pages of the primary index, so that the caller does not wait for one after another. If the first rows' pages are known,
    /// assumes that the others are too.
    @inline(__always)
    private func askForPages(of batch: UnsafeBufferPointer<RowReference>) {
        let sample = min(LogFile.sampleSize, batch.count)
        var isNew = false
        for index in 0..<sample { isNew = willResolve(batch[index]) || isNew }
        guard isNew else { return }
        for index in sample..<batch.count { _ = willResolve(batch[index]) }
    }

    /// A cursor over a range of an index.
    /// - Throws: `invalidArgument` for an index that this snapshot does not have.
    public func cursor(_ index: IndexID, _ range: KeyRange = .all, descending: Bool = false) throws(StoreError) -> IndexCursor {
        IndexCursor(try merge(index, range, descending: descending), owner: self)
    }

    /// Calls `body` with the key and row of each entry in a range of an index, in order, until it returns false.
    /// - Parameter body: the key is valid until it returns.
    /// - Throws: `invalidArgument` for an index that this snapshot does not have; the error of `body`.
    /// - Complexity: O(log n) to find the first entry, and O(runs) for each, amortised.
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

    /// The first row of the index entries that start with a key; nil if there is none.
    public func firstRow(_ index: IndexID, prefix key: KeyBuilder) throws(StoreError) -> UInt64? {
        try firstRow(index, prefix: key.unsafeBuffer)
    }

    /// The first row of the index entries that start with these bytes; nil if there is none.
    public func firstRow(_ index: IndexID, prefix key: UnsafeRawBufferPointer) throws(StoreError) -> UInt64? {
        // The snapshot keeps its runs alive. Counting a reference between cache misses would prevent their overlap.
        try Unmanaged.passUnretained(runs(of: index)).guaranteed { runs throws(StoreError) in try runs.firstRow(prefix: key) }
    }

    /// Calls `body` with the rows of a range of an index, in its order, until it returns false.
    /// - Returns: the number of calls, and whether `body` returned false.
    /// - Complexity: O(rows); rows are looked up in batches, so that cache misses overlap.
    @discardableResult
    public func rows(
        _ index: IndexID, _ range: KeyRange, descending: Bool = false, limit: Int = .max, _ body: (UnsafeRowView) throws -> Bool
    ) throws -> (count: Int, isEnded: Bool) {
        guard let table = catalog.index(index)?.table else { return (0, false) }
        let merge = try merge(index, range, descending: descending)
        var left = limit, isDone = false
        try withUnsafeTemporaryAllocation(of: RowReference.self, capacity: Self.batchSize) { references in
            while left > 0, !isDone {
                let wanted = min(Self.batchSize, left)
                let count = try merge.take(table, into: UnsafeMutableBufferPointer(rebasing: references[..<wanted]))
                guard count > 0 else { return }
                try inBatches(UnsafeBufferPointer(rebasing: references[..<count])) { _, batch, addresses in
                    counters.rowsRead(batch.count)
                    for index in batch.indices where addresses[index] != 0 {
                        left -= 1
                        guard try body(try view(at: addresses[index], batch[index])) else {
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

    /// The number of entries in a range of an index. Reads no row.
    /// - Complexity: O(blocks in the range), whose counts are stored, and O(log n) for each entry that was written since the index's
    ///   base.
    public func count(_ index: IndexID, _ range: KeyRange) throws(StoreError) -> Int { try runs(of: index).count(range) }

    /// An estimate of the number of entries in a range of an index. It includes tombstones and the entries that newer runs hide.
    /// - Complexity: O(runs · log n) and O(blocks in the range).
    public func estimate(_ index: IndexID, _ range: KeyRange) throws(StoreError) -> Int { try runs(of: index).estimate(range) }

    /// Whether this commit has an index.
    package func hasIndex(_ index: IndexID) -> Bool { Int(index.rawValue) < indexes.count && indexes[Int(index.rawValue)] != nil }

    private func runs(of index: IndexID) throws(StoreError) -> RunSet {
        guard Int(index.rawValue) < indexes.count, let runs = indexes[Int(index.rawValue)] else {
            throw StoreError(
                .invalidArgument, path: file.path, "the store has no index \(index.rawValue)",
                remedy: "Use an index of this snapshot's catalog.")
        }
        return runs
    }
}
