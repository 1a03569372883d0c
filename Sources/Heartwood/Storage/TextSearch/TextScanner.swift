import RecordLog

/// The row numbers of a text scan, ascending.
///
/// Invariants:
/// 1. `piece` has `count` rows that all groups have. The caller has those before `position`.
/// 2. The groups' postings have passed the rows of the piece.
final class TextScanner {
    /// The terms of each group, the rarest group first.
    private let groups: [[TextPostings]]
    private let long: [TextPostings]
    private let piece: UnsafeMutableBufferPointer<UInt64>
    private var count = 0
    private var position = 0
    /// The number of rows of the rarest group to take next.
    private var pieceCount = TextPostings.pieceCountMin

    convenience init(_ scan: TextScan, _ snapshot: Snapshot) throws {
        self.init(
            groups: try scan.groups.map { try $0.alternatives.map { try TextIndexReader(snapshot, $0.index).postings($0.requirement) } },
            long: try scan.withLongTexts.map { try TextIndexReader(snapshot, $0).longTexts() })
    }

    /// - Parameters:
    ///   - groups: of each group the rows of its terms, the rarest group first.
    ///   - long: rows to give too, whether the groups have them or not.
    init(groups: [[TextPostings]], long: [TextPostings]) {
        (self.groups, self.long) = (groups, long)
        piece = .allocate(capacity: TextPostings.pieceCountMax)
    }

    deinit {
        piece.deallocate()
    }

    /// Gives the next rows, as many as the buffer holds.
    /// - Returns: the number of rows; fewer than the buffer holds only at the end.
    func take(into rows: UnsafeMutableBufferPointer<UInt64>) throws -> Int {
        guard long.isEmpty else { return try takeWithLong(into: rows) }
        var taken = 0
        while taken < rows.count {
            if position == count, try !intersect() { break }
            let more = min(count - position, rows.count - taken)
            _ = rows[taken...].update(fromContentsOf: piece[position..<position + more])
            position += more
            taken += more
        }
        return taken
    }

    private func takeWithLong(into rows: UnsafeMutableBufferPointer<UInt64>) throws -> Int {
        for taken in rows.indices {
            let found = try position < count || intersect() ? piece[position] : nil
            guard let row = [found, try Self.first(long)].compactMap(\.self).min() else { return taken }
            if row == found { position += 1 }
            try Self.pass(long, row)
            rows[taken] = row
        }
        return rows.count
    }

    /// Finds the next rows that all groups have.
    /// - Returns: false if there are no others.
    private func intersect() throws -> Bool {
        (position, count) = (0, 0)
        guard let rarest = groups.first else { return false }
        while true {
            count = try Self.take(rarest, into: UnsafeMutableBufferPointer(rebasing: piece[..<pieceCount]))
            pieceCount = min(pieceCount * 2, TextPostings.pieceCountMax)
            guard count > 0 else { return false }
            let last = piece[count - 1]
            for group in groups.dropFirst() {
                count = try Self.keep(group, UnsafeMutableBufferPointer(rebasing: piece[..<count]))
                guard count == 0 else { continue }
                // Rows of the rarest group before this group's next row are of no use.
                guard let row = try Self.first(group) else { return false }
                if row > last { for postings in rarest { _ = try postings.pass(before: row) } }
                break
            }
            if count > 0 { return true }
        }
    }

    // MARK: The rows that any of several terms has

    private static func first(_ alternatives: [TextPostings]) throws -> UInt64? {
        if alternatives.count == 1 { return try alternatives[0].first }
        return try alternatives.compactMap { try $0.first }.min()
    }

    /// Passes a row, where it comes next.
    private static func pass(_ alternatives: [TextPostings], _ row: UInt64) throws {
        for postings in alternatives where try postings.first == row { postings.removeFirst() }
    }

    private static func take(_ alternatives: [TextPostings], into rows: UnsafeMutableBufferPointer<UInt64>) throws -> Int {
        if alternatives.count == 1 { return try alternatives[0].take(into: rows) }
        for taken in rows.indices {
            guard let row = try first(alternatives) else { return taken }
            try pass(alternatives, row)
            rows[taken] = row
        }
        return rows.count
    }

    private static func keep(_ alternatives: [TextPostings], _ rows: UnsafeMutableBufferPointer<UInt64>) throws -> Int {
        if alternatives.count == 1 { return try alternatives[0].keep(rows) }
        var kept = 0
        for row in rows where try alternatives.contains(where: { try $0.has(row) }) {
            rows[kept] = row
            kept += 1
        }
        return kept
    }
}
