import Foundation
import RecordLog

/// Collects rows and sorts them.
package protocol RowGathering {
    /// - Parameter limit: the number of rows to return; nil for all.
    init(limit: Int?)
    /// - Parameter part: the index of the row's table in the query.
    mutating func append(_ row: UnsafeRowView, _ order: RowOrder, part: Int, _ scope: QueryScope) throws
    /// Adds the rows that another thread has collected.
    mutating func add(_ other: Self)
    mutating func sorted() -> [UnsafeRowView]
}

/// Sorts rows by their keys. Rows with equal keys come by table, then by number.
///
/// With a limit, the sorter keeps at most twice as many rows, or 1,024 where that is more. It drops the others, and skips a row that sorts after
/// the last one wanted.
package struct RowSorter: RowGathering {
    private struct Entry {
        let prefix: UInt64
        let start: Int
        let end: Int
        let rank: UInt64
        let row: UnsafeRowView
    }

    private var arena: [UInt8] = []
    private var entries: [Entry] = []
    private let limit: Int
    /// The prefix and the key of the last wanted row, which bound further rows; none before the first cut.
    private var bound = UInt64.max
    private var boundKey: [UInt8] = []

    /// The number of rows to collect before they are sorted and cut.
    private var roomMax: Int { Self.roomMax(limit) }
    static func roomMax(_ limit: Int) -> Int { max(1024, limit * 2) }
    static let limitMax = 100_000

    package init(limit: Int?) {
        self.limit = limit.map { $0 <= Self.limitMax ? $0 : Int.max / 4 } ?? Int.max / 4
    }

    package mutating func append(_ row: UnsafeRowView, _ order: RowOrder, part: Int, _ scope: QueryScope) throws {
        // Skips most rows where the limit is small.
        if bound != .max, let prefix = order.prefix(of: row), prefix > bound { return }
        let key = scope.key
        key.removeAll()
        try order.appendKey(of: row, to: key, scope)
        let bytes = key.unsafeBuffer
        // A component starts with a tag that distinguishes null from a value; the value's bytes follow.
        var prefix: UInt64 = 0
        if let tag = bytes.first {
            prefix = Self.prefix(
                KeyBytes.word(UnsafeRawBufferPointer(rebasing: bytes[1...])), isHigh: tag == KeyBuilder.valueTag || tag == ~KeyBuilder.nullTag)
        }
        guard prefix < bound || prefix == bound && !isBehindBound(bytes) else { return }
        let start = arena.count
        arena.append(contentsOf: bytes)
        entries.append(Entry(
            prefix: prefix, start: start, end: arena.count, rank: Self.rank(row, part: part), row: row))
        if entries.count >= roomMax { cut() }
    }

    /// Returns a row's rank among rows with equal keys.
    @inline(__always)
    static func rank(_ row: UnsafeRowView, part: Int) -> UInt64 { UInt64(part) << 48 | row.reference.row }

    /// Returns the start of a key as a number.
    /// - Parameter isHigh: whether the first component's tag is the one that sorts last, of null's and a value's.
    @inline(__always)
    static func prefix(_ word: UInt64, isHigh: Bool) -> UInt64 { word >> 1 | (isHigh ? 1 << 63 : 0) }

    private func isBehindBound(_ key: UnsafeRawBufferPointer) -> Bool {
        !boundKey.isEmpty && boundKey.withUnsafeBytes { KeyBytes.compare(key, $0) > 0 }
    }

    private mutating func cut() {
        sort()
        entries.removeSubrange(min(limit, entries.count)...)
        if let last = entries.last, entries.count == limit {
            bound = last.prefix
            boundKey = Array(arena[last.start..<last.end])
        }
        var kept: [UInt8] = []
        for (index, entry) in entries.enumerated() {
            let start = kept.count
            kept.append(contentsOf: arena[entry.start..<entry.end])
            entries[index] = Entry(prefix: entry.prefix, start: start, end: kept.count, rank: entry.rank, row: entry.row)
        }
        arena = kept
    }

    private mutating func sort() {
        arena.withUnsafeBytes { arena in
            entries.sort { a, b in
                if a.prefix != b.prefix { return a.prefix < b.prefix }
                let order = KeyBytes.compare(
                    UnsafeRawBufferPointer(rebasing: arena[a.start..<a.end]), UnsafeRawBufferPointer(rebasing: arena[b.start..<b.end]))
                return order == 0 ? a.rank < b.rank : order < 0
            }
        }
    }

    package mutating func add(_ other: RowSorter) {
        let offset = arena.count
        arena.append(contentsOf: other.arena)
        entries += other.entries.map {
            Entry(prefix: $0.prefix, start: $0.start + offset, end: $0.end + offset, rank: $0.rank, row: $0.row)
        }
        if entries.count >= roomMax { cut() }
    }

    package mutating func sorted() -> [UnsafeRowView] {
        sort()
        return entries.map(\.row)
    }
}
