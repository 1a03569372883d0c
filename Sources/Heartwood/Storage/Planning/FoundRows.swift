import RecordLog

/// What one thread of a parallel scan has found in a window of a table: the matches of one stretch after the other. Its memory is kept for
/// the next window.
///
/// Invariant: the thread has taken stretches in rising order, so `parts` are in order, and the rows of each as well.
final class FoundRows {
    private var rows: [RowView] = []
    /// Where each stretch starts in `rows`.
    private var parts: [(stretch: Int, start: Int)] = []

    func append(_ found: UnsafeMutableBufferPointer<RowView>, _ stretch: Int) {
        if parts.last?.stretch != stretch { parts.append((stretch, rows.count)) }
        rows.append(contentsOf: found)
    }

    /// Calls `body` with the rows of all threads, in the order of the table, until it returns false; forgets them.
    /// - Returns: whether it never did.
    static func forEach(of all: [FoundRows], _ body: (RowView) throws -> Bool) rethrows -> Bool {
        defer { for one in all { one.removeAll() } }
        var order: [(stretch: Int, place: Int, rows: Range<Int>)] = []
        for (place, one) in all.enumerated() {
            for (part, next) in zip(one.parts, one.parts.dropFirst().map(\.start) + [one.rows.count]) {
                order.append((part.stretch, place, part.start..<next))
            }
        }
        order.sort { $0.stretch < $1.stretch }
        for part in order {
            let goesOn = try all[part.place].rows.withUnsafeBufferPointer { rows in
                for index in part.rows { guard try body(rows[index]) else { return false } }
                return true
            }
            guard goesOn else { return false }
        }
        return true
    }

    private func removeAll() {
        rows.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
    }
}
