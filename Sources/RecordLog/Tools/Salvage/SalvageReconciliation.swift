/// Compares the rows that the scan of the log found with the primary indexes of the newest checkpoint that still verify.
///
/// The indexes name the rows that existed, and their addresses. So they restore deletions whose records are lost, and reveal rows that are
/// lost or left only in an older version.
struct SalvageReconciliation {
    let source: SalvageSource
    private(set) var scan: SalvageScan
    /// Rows dropped because an index shows that they had been deleted.
    private(set) var deletionsByIndex = 0
    private(set) var lostRows = SalvageList<RowReference>()
    private var budget: UInt64

    /// The known losses of one table.
    struct Outcome {
        var older = 0
        var lost = 0
        var unaccounted = 0
        /// The next row number, as far as known.
        var nextRow: UInt64 = 1
    }

    /// The count of checkpoints to try if newer ones are damaged.
    private static let checkpointsMax = 8

    init(source: SalvageSource, scan: SalvageScan) {
        self.source = source
        self.scan = scan
        // A directory names each page once, so an honest file takes no more.
        budget = source.size
    }

    // MARK: A table

    /// Compares a table's rows in order.
    /// - Parameter numbered: from this row number on, every number has a record in the log unless it was lost; nil if this is unknown.
    mutating func run(_ table: TableID, numbered: UInt64?) throws(StoreError) -> Outcome {
        var outcome = Outcome()
        outcome.nextRow = (scan.highestRows[table] ?? 0) + 1
        var uncovered: [Range<UInt64>] = []
        var covered: UInt64 = 1
        if let base = try newestBase(of: table) {
            outcome.nextRow = max(outcome.nextRow, base.nextRow)
            for page in 0..<base.pageCount {
                let first = max(1, UInt64(page) * PrimaryBase.rowsPerPage)
                let end = min(UInt64(page + 1) * PrimaryBase.rowsPerPage, base.nextRow)
                guard first < end else { continue }
                if try !reconcile(table, first..<end, base, page, &outcome) { Self.append(first..<end, to: &uncovered) }
                covered = end
            }
        }
        Self.append(covered..<max(covered, outcome.nextRow), to: &uncovered)
        if let numbered, table != .system { countUnaccounted(table, uncovered, numbered, &outcome) }
        // Records of an unfinished write show rows that existed before it.
        for (row, previous) in scan.leftOutRows where row.table == table && scan.rows.entry(row) == nil && previous < source.size {
            if uncovered.contains(where: { $0.contains(row.row) }), row.row < numbered ?? .max { lose(row, &outcome) }
        }
        return outcome
    }

    private static func append(_ range: Range<UInt64>, to ranges: inout [Range<UInt64>]) {
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }

    private mutating func lose(_ row: RowReference, _ outcome: inout Outcome) {
        outcome.lost += 1
        lostRows.append(row)
    }

    private func countUnaccounted(_ table: TableID, _ ranges: [Range<UInt64>], _ numbered: UInt64, _ outcome: inout Outcome) {
        for range in ranges {
            let start = max(range.lowerBound, numbered)
            guard start < range.upperBound else { continue }
            let end = scan.rows.index(of: RowReference(table: table, row: range.upperBound))
            let found = end - scan.rows.index(of: RowReference(table: table, row: start))
            outcome.unaccounted += Int(range.upperBound - start) - found
        }
    }

    // MARK: Pages

    /// A table's rows as of a checkpoint.
    private struct Base {
        /// The checkpoint includes everything that the log has before this offset.
        let logEnd: UInt64
        let nextRow: UInt64
        let directory: UnsafeRawBufferPointer
        let pageCount: Int
    }

    private mutating func payload(_ pointer: FramePointer, _ kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer? {
        guard pointer.offset < source.size, let frame = try source.frame(at: pointer.offset, budget: &budget), frame.header.kind == kind,
            frame.header.checksum == pointer.checksum, UInt64(frame.header.length) <= budget
        else { return nil }
        budget -= UInt64(frame.header.length)
        return frame.payload
    }

    private mutating func newestBase(of table: TableID) throws(StoreError) -> Base? {
        for offset in scan.checkpoints.suffix(Self.checkpointsMax).reversed() {
            var hashed = source.size
            guard let frame = try source.frame(at: offset, budget: &hashed), let manifest = Manifest(frame.payload),
                let state = manifest.tables.first(where: { $0.id == table }), !state.directory.isNone,
                let directory = try payload(state.directory, .primaryDirectory)
            else { continue }
            let pageCount = directory.count / PrimaryBase.entrySize
            guard state.nextRow <= UInt64(pageCount) * PrimaryBase.rowsPerPage else { continue }
            return Base(logEnd: manifest.logEnd, nextRow: state.nextRow, directory: directory, pageCount: pageCount)
        }
        return nil
    }

    /// - Returns: false if the page is damaged.
    private mutating func reconcile(
        _ table: TableID, _ range: Range<UInt64>, _ base: Base, _ page: Int, _ outcome: inout Outcome
    ) throws(StoreError) -> Bool {
        let pointer = PrimaryBase.pointer(in: base.directory, page)
        var at = scan.rows.index(of: RowReference(table: table, row: range.lowerBound))
        let end = scan.rows.index(of: RowReference(table: table, row: range.upperBound))
        guard !pointer.isNone else {
            while at < end {
                drop(at, before: base.logEnd)
                at += 1
            }
            return true
        }
        guard let addresses = try payload(pointer, .primaryPage).flatMap(PrimaryPage.init(checking:)) else { return false }
        for row in range {
            let address = addresses.address(Int(row % PrimaryBase.rowsPerPage))
            let reference = RowReference(table: table, row: row)
            let entry = at < end && scan.rows.entries[at].reference == reference ? scan.rows.entries[at] : nil
            if address == 0 {
                if entry != nil { drop(at, before: base.logEnd) }
            } else if (entry?.address ?? 0) < address {
                settle(reference, entry, at, address, &outcome)
            }
            if entry != nil { at += 1 }
        }
        return true
    }

    /// Drops a row that the checkpoint does not have: it was deleted before the checkpoint.
    private mutating func drop(_ index: Int, before offset: UInt64) {
        let entry = scan.rows.entries[index]
        guard entry.address < offset, entry.address > 0 else { return }
        if !entry.isDeletion { deletionsByIndex += 1 }
        scan.rows.set(index, address: 0)
    }

    /// Handles a row whose newest record as of the checkpoint was not found.
    private mutating func settle(
        _ reference: RowReference, _ entry: SalvagedRows.Entry?, _ index: Int, _ address: UInt64, _ outcome: inout Outcome
    ) {
        if entry != nil, let record = source.record(at: address)?.record, record.reference == reference, record.operation == .put {
            scan.rows.set(index, address: address)
        } else if let entry, !entry.isDeletion {
            outcome.older += 1
        } else {
            lose(reference, &outcome)
        }
    }
}
