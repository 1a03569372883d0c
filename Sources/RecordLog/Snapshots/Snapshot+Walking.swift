extension Snapshot {
    /// Calls `body` with each row of a table, in row order, from row number `first` on, until it returns false.
    /// - Complexity: O(rows), one pass over the primary index's pages.
    public func scan(_ table: TableID, from first: UInt64 = 0, _ body: (RowView) throws -> Bool) throws {
        var failure: (any Error)?
        try scanRows(table, from: first) { row throws(StoreError) in
            do {
                return try body(row)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// The same for the engine's own use, with its own type of error.
    func scanRows(_ table: TableID, from first: UInt64 = 0, _ body: (RowView) throws(StoreError) -> Bool) throws(StoreError) {
        guard let state = state(table) else { return }
        var row = max(first, 1)
        while row < state.nextRow {
            let page = row / PrimaryBase.rowsPerPage
            let limit = min((page + 1) * PrimaryBase.rowsPerPage, state.nextRow)
            let isChanged = state.primary.delta.hasRows(in: row..<limit)
            let addresses = try state.primary.base?.addresses(ofPage: Int(truncatingIfNeeded: page))
                ?? UnsafeRawBufferPointer(start: nil, count: 0)
            guard isChanged || !addresses.isEmpty else {
                row = limit
                continue
            }
            while row < limit {
                let reference = RowReference(table: table, row: row)
                let address: UInt64?
                if isChanged {
                    address = try self.address(of: reference)
                } else {
                    let known = PrimaryBase.address(in: addresses, row % PrimaryBase.rowsPerPage)
                    address = known == 0 ? nil : known
                }
                if let address {
                    counters.rowRead()
                    guard try body(view(at: address, reference)) else { return }
                }
                row &+= 1
            }
        }
    }

    /// Whether one of these rows, all of one page, may be there.
    func mayHaveRows(_ table: TableID, in rows: Range<UInt64>) throws(StoreError) -> Bool {
        guard let state = state(table) else { return false }
        if state.primary.delta.hasRows(in: rows) { return true }
        return try state.primary.base.map { base throws(StoreError) in
            try !base.page(Int(truncatingIfNeeded: rows.lowerBound / PrimaryBase.rowsPerPage)).isNone
        } ?? false
    }

    /// Calls `body` with each reference's place in the list and its row.
    ///
    /// Addresses are looked up first and rows read after, in groups, so that the misses of memory overlap.
    public func rows(_ references: UnsafeBufferPointer<RowReference>, _ body: (Int, RowView?) throws -> Void) throws {
        let groupSize = 32
        var addresses: [UInt64?] = []
        addresses.reserveCapacity(groupSize)
        var start = 0
        while start < references.count {
            let end = min(start + groupSize, references.count)
            addresses.removeAll(keepingCapacity: true)
            for index in start..<end { addresses.append(try address(of: references[index])) }
            for index in start..<end {
                counters.rowRead()
                try body(index, try addresses[index - start].map { address throws(StoreError) in try view(at: address, references[index]) })
            }
            start = end
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
