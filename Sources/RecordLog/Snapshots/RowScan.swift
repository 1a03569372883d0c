/// Scans the rows of a table in row order, one page of the primary index at a time.
package struct RowScan {
    private let snapshot: Snapshot
    private let table: TableID
    private let primary: PrimaryIndex?
    private let nextRow: UInt64
    private var row: UInt64
    /// The end of the current page.
    private var limit: UInt64 = 0
    private var isChanged = false
    private var addresses = PrimaryPage.empty
    private var frame = VerifiedFrame()
    private var rowsAhead = ReadaheadAtTwoPositions()
    /// Rows before this one were requested, because rows are scattered here.
    private var askedEnd: UInt64 = 0
    private var pagesAhead = Readahead()
    /// The layout of the previous row, and the smallest size of its bodies.
    private var layout: LayoutID?
    private var minimumSize = Int.max
    /// The number of rows found, for the statistics.
    private(set) var found = 0

    package init(_ snapshot: Snapshot, _ table: TableID, from first: UInt64, to end: UInt64 = .max) {
        self.snapshot = snapshot
        self.table = table
        let state = snapshot.state(table)
        primary = state?.primary
        nextRow = min(state?.nextRow ?? 0, end)
        row = max(first, 1)
    }

    /// The next row; nil at the end.
    @inline(__always)
    package mutating func next() throws(StoreError) -> UnsafeRowView? {
        while row < nextRow {
            if row >= limit { try enterPage() }
            while row < limit {
                let reference = RowReference(table: table, row: row)
                let address: UInt64
                if isChanged {
                    address = try snapshot.address(of: reference) ?? 0
                } else {
                    address = addresses.address(Int(row % PrimaryBase.rowsPerPage))
                }
                row &+= 1
                guard address != 0 else { continue }
                found &+= 1
                if let view = insertedRow(at: address, reference) { return view }
                return try changedRow(at: address, reference)
            }
        }
        return nil
    }

    /// Fills a batch with the next rows.
    /// - Returns: their number; at the end fewer than the batch has room for.
    @inline(__always)
    mutating func fill(_ batch: UnsafeMutableBufferPointer<UnsafeRowView>) throws(StoreError) -> Int {
        var count = 0
        while count < batch.count, let row = try next() {
            batch.initializeElement(at: count, to: row)
            count &+= 1
        }
        return count
    }

    @inline(__always)
    private mutating func changedRow(at address: UInt64, _ reference: RowReference) throws(StoreError) -> UnsafeRowView {
        // The snapshot is held, and its memory is separate from this scan's.
        let view = try Unmanaged.passUnretained(snapshot).guaranteed { snapshot throws(StoreError) in
            if address < frame.start || address >= frame.end { readAhead(of: address, snapshot.file) }
            return try snapshot.checked(try snapshot.file.record(at: address, end: snapshot.end, in: &frame), at: address, reference)
        }
        layout = view.layoutID
        minimumSize = table == .system ? .max : snapshot.catalog.minimumSize(of: view)
        return view
    }

    @inline(never)
    private mutating func readAhead(of address: UInt64, _ file: LogFile) {
        if let range = rowsAhead.reach(address) { file.willRead(range) }
        guard rowsAhead.isAstray, row >= askedEnd, !isChanged else { return }
        askedEnd = min(row + Self.scatteredAtOnce, limit)
        for next in row..<max(row, askedEnd) {
            let address = addresses.address(Int(next % PrimaryBase.rowsPerPage))
            if address != 0 { file.askOnce(address) }
        }
    }

    private static let scatteredAtOnce: UInt64 = 64

    /// The row, if it is in the previous row's frame and has its layout; nil otherwise.
    @inline(__always)
    private func insertedRow(at address: UInt64, _ reference: RowReference) -> UnsafeRowView? {
        guard address >= frame.start, address < frame.end else { return nil }
        let pointer = frame.pointer + Int(truncatingIfNeeded: address &- frame.start)
        guard let length = RowRecord.insertedBody(
            pointer, limit: Int(truncatingIfNeeded: frame.end &- address), reference,
            distance: Int(truncatingIfNeeded: address &- frame.frameStart)),
            length >= minimumSize
        else { return nil }
        let view = UnsafeRowView(body: pointer + RowRecord.Layout.size, byteCount: length, reference: reference, version: 1)
        return view.layoutID == layout ? view : nil
    }

    /// Enters the page of `row`; if the table has no such page, moves past it.
    @inline(never)
    private mutating func enterPage() throws(StoreError) {
        let page = row / PrimaryBase.rowsPerPage
        limit = min((page + 1) * PrimaryBase.rowsPerPage, nextRow)
        isChanged = primary?.isChanged(row..<limit) ?? false
        if let base = primary?.base, let range = pagesAhead.reach(base.page(Int(truncatingIfNeeded: page)).offset) { snapshot.file.willRead(range) }
        addresses = try primary?.base?.addresses(ofPage: Int(truncatingIfNeeded: page)) ?? .empty
        if !isChanged, addresses.isEmpty { row = limit }
    }
}
