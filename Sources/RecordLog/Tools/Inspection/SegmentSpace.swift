/// The live bytes in each segment of a log as of a snapshot, from the addresses in its indexes.
///
/// A row counts with the mean size of its table's rows and their values, and a block with the mean size of its run's blocks. So no row and no block
/// is read. The sums are those of a `StoreInspection`, the share of one segment is an estimate.
package struct SegmentSpace {
    package struct Segment: Sendable, Equatable {
        /// The bytes of the log in it.
        package var bytes: UInt64
        /// Bytes of rows and their values.
        package var rows: UInt64 = 0
        /// Bytes of index runs and pages.
        package var indexes: UInt64 = 0

        package var dead: UInt64 { bytes - min(bytes, rows.addingReportingOverflow(indexes).partialValue) }
    }

    package private(set) var segments: [Segment] = []
    private let snapshot: Snapshot

    /// - Parameter end: the end of the log. It is behind the snapshot's end if a checkpoint has followed.
    /// - Throws: `corrupt` if an index is damaged.
    /// - Complexity: O(rows), four bytes of each, and O(index blocks).
    init(_ snapshot: Snapshot, end: UInt64) throws(StoreError) {
        self.snapshot = snapshot
        let size = snapshot.file.segmentSize
        var start: UInt64 = 0
        while start < end {
            segments.append(Segment(bytes: min(size, end - start)))
            start += size
        }
        for (number, state) in snapshot.tables.enumerated() {
            guard let state else { continue }
            try addRows(TableID(rawValue: UInt16(number)), state)
            try addPages(state.primary.base)
        }
        for runs in snapshot.indexes {
            for run in runs?.disk ?? [] { try addBlocks(run) }
        }
    }

    private func segment(_ address: UInt64) -> Int? {
        let number = Int(truncatingIfNeeded: address >> snapshot.file.segmentShift)
        return segments.indices.contains(number) ? number : nil
    }

    private mutating func addRows(_ table: TableID, _ state: TableState) throws(StoreError) {
        var counts = [UInt64](repeating: 0, count: segments.count), left = state.rowCount
        var row: UInt64 = 0
        while row < state.nextRow, left > 0 {
            let page = row..<min(row + PrimaryBase.rowsPerPage, state.nextRow)
            row = page.upperBound
            guard snapshot.mayHaveRows(table, in: page) else { continue }
            let isChanged = state.primary.isChanged(page)
            let addresses = try state.primary.base?.addresses(ofPage: Int(page.lowerBound / PrimaryBase.rowsPerPage)) ?? .empty
            for number in page {
                let address = isChanged
                    ? try snapshot.address(of: RowReference(table: table, row: number)) ?? 0
                    : addresses.address(Int(number % PrimaryBase.rowsPerPage))
                guard address != 0, let segment = segment(address) else { continue }
                counts[segment] += 1
                left -= min(left, 1)
            }
        }
        let found = counts.reduce(0, +)
        guard found > 0 else { return }
        for (number, count) in counts.enumerated() {
            segments[number].rows += UInt64(Double(state.liveBytes) * (Double(count) / Double(found)))
        }
    }

    private mutating func addPages(_ base: PrimaryBase?) throws(StoreError) {
        guard let base else { return }
        for number in 0..<base.pageCount where !base.page(number).isNone {
            let offset = base.page(number).offset
            guard let segment = segment(offset) else { continue }
            segments[segment].indexes += UInt64(try snapshot.file.stated(at: offset, limit: snapshot.file.readableEnd)?.length ?? 0)
        }
    }

    private mutating func addBlocks(_ run: SortedRun) throws(StoreError) {
        let blocks = try run.blocks()
        for number in 0..<blocks.count {
            guard let segment = segment(blocks.pointer(number).offset) else { continue }
            segments[segment].indexes += run.byteCount / UInt64(blocks.count)
        }
    }
}

extension LogStore {
    /// The live bytes in each segment as of the newest commit.
    /// - Throws: `corrupt` if an index is damaged.
    /// - Complexity: as `SegmentSpace`.
    package func segmentSpace() throws(StoreError) -> SegmentSpace { try SegmentSpace(snapshot(), end: log.end) }
}
