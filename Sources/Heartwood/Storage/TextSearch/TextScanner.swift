import RecordLog

/// Returns the row numbers of a text scan, ascending.
struct TextScanner {
    /// One group's rows: the union of its cursors.
    private struct Stream {
        var cursors: [TextPostings]
        /// The cursors' current rows; nil at the end.
        var rows: [UInt64?]

        init(_ cursors: [TextPostings]) throws {
            self.cursors = cursors
            rows = []
            for index in cursors.indices { rows.append(try self.cursors[index].next()) }
        }

        /// The lowest row.
        var row: UInt64? {
            if rows.count == 1 { return rows[0] }
            return rows.lazy.compactMap { $0 }.min()
        }

        /// Goes on to the first row that is not below `row`.
        mutating func seek(_ row: UInt64) throws {
            for index in cursors.indices {
                if let known = rows[index], known < row { rows[index] = try cursors[index].seek(row) }
            }
        }
    }

    private var streams: [Stream] = []
    private var long: Stream?

    init(_ scan: TextScan, _ snapshot: Snapshot) throws {
        for group in scan.groups {
            streams.append(try Stream(try group.alternatives.map { try TextIndexReader(snapshot, $0.index).postings($0.requirement) }))
        }
        if !scan.withLongTexts.isEmpty {
            long = try Stream(try scan.withLongTexts.map { try TextIndexReader(snapshot, $0).longTexts() })
        }
    }

    mutating func next() throws -> UInt64? {
        let found = try intersected()
        guard let other = long?.row else { return try take(found) }
        guard let found, found <= other else {
            try long?.seek(other + 1)
            return other
        }
        if found == other { try long?.seek(other + 1) }
        return try take(found)
    }

    private mutating func take(_ row: UInt64?) throws -> UInt64? {
        if let row { try streams[0].seek(row + 1) }
        return row
    }

    /// Returns the first row that all streams have, and leaves the streams there.
    private mutating func intersected() throws -> UInt64? {
        guard var row = streams[0].row else { return nil }
        var agreed = 1
        while agreed < streams.count {
            try streams[agreed].seek(row)
            guard let other = streams[agreed].row else { return nil }
            if other == row {
                agreed += 1
                continue
            }
            try streams[0].seek(other)
            guard let next = streams[0].row else { return nil }
            row = next
            agreed = 1
        }
        return row
    }
}
