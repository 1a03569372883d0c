import RecordLog

/// The matches that one thread of a parallel scan has found in a window of a table, chunk by chunk. The next window reuses its memory.
///
///
/// Invariant: the thread takes chunks in ascending order, so `parts` are in order, and the rows of each part too.
final class FoundRows {
    private var rows: [UnsafeRowView] = []
    /// Each chunk and its start in `rows`.
    private var parts: [(chunk: Int, start: Int)] = []

    func append(_ found: UnsafeMutableBufferPointer<UnsafeRowView>, _ chunk: Int) {
        if parts.last?.chunk != chunk { parts.append((chunk, rows.count)) }
        rows.append(contentsOf: found)
    }

    /// Calls `body` with the rows of all threads, in the table's order, until it returns false. Then removes the rows.
    /// - Returns: false where `body` has returned false.
    static func forEach(of all: [FoundRows], _ body: (UnsafeRowView) throws -> Bool) rethrows -> Bool {
        defer { for one in all { one.removeAll() } }
        var order: [(chunk: Int, thread: Int, rows: Range<Int>)] = []
        for (thread, one) in all.enumerated() {
            for (part, next) in zip(one.parts, one.parts.dropFirst().map(\.start) + [one.rows.count]) {
                order.append((part.chunk, thread, part.start..<next))
            }
        }
        order.sort { $0.chunk < $1.chunk }
        for part in order {
            let goesOn = try all[part.thread].rows.withUnsafeBufferPointer { rows in
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
